import type { AddressInfo } from 'node:net'
import type { Config } from './config/index.ts'
import type { DeploymentKeys } from './keys-file.ts'

/** What the operator sees when the service listens: at the first start the keys, later only where they are kept. */
export function greet(address: AddressInfo, config: Config, keys: DeploymentKeys): void {
  const base = `${config.tls === undefined ? 'http' : 'https'}://${hostOf(address)}/v3`
  const lines = keys.isNew
    ? [
        'Parley is running.',
        '',
        `  Base address   ${base}`,
        `  App id         ${config.appId}`,
        `  Region         ${config.region}`,
        `  REST API key   ${keys.apiKey}   (fullAccess)`,
        ...(keys.authKey === undefined ? [] : [`  Auth key       ${keys.authKey}   (authOnly, for development)`]),
        `  Kept in        ${keys.file}`,
        '',
        'Try it:',
        '',
        `  curl ${config.tls === 'self-signed' ? '-k ' : ''}${base}/users -H 'apikey: ${keys.apiKey}' -H 'content-type: application/json' -d '{"uid": "alice", "name": "Alice"}'`,
      ]
    : [
        `Parley is running at ${base} (app ${config.appId}, region ${config.region}).`,
        `Its keys are kept in ${keys.file}.`,
      ]
  console.log(['', ...lines, ''].join('\n'))
}

function hostOf({ address, port, family }: AddressInfo): string {
  const isEverywhere = address === '0.0.0.0' || address === '::'
  const host = isEverywhere ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address
  return `${host}:${port}`
}
