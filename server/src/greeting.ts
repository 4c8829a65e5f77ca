import type { AddressInfo } from 'node:net'
import type { Config } from './config/index.ts'
import type { DeploymentKeys } from './keys-file.ts'

/** Prints what the operator sees when the service listens. */
export function greet(address: AddressInfo, config: Config, keys: DeploymentKeys, setup: SetupPlace | undefined): void {
  console.log(greetingOf(address, config, keys, process.stdout.isTTY === true, setup))
}

/** Where the one-time address of the first owner is: itself, or the file that holds it. */
export type SetupPlace = { readonly address: string } | { readonly file: string }

/** Scheme, host and port by which a browser on this machine reaches the console: it may have a port of its own. */
export function originOfConsole(
  address: AddressInfo,
  { tls, publicUrl, adminPort }: Pick<Config, 'tls' | 'publicUrl' | 'adminPort'>,
): string {
  const scheme = tls === undefined ? 'http' : 'https'
  if (adminPort !== undefined) return `${scheme}://${hostOf({ ...address, port: adminPort })}`
  return publicUrl ?? `${scheme}://${hostOf(address)}`
}

/**
 * Says where the service is, and at the first start its keys. What is not a terminal keeps what is printed, as journals and
 * logs of containers do: it is told where the keys are, and no more.
 */
export function greetingOf(
  address: AddressInfo,
  config: Pick<Config, 'appId' | 'region' | 'tls' | 'demo' | 'docs' | 'console' | 'adminPort' | 'publicUrl'>,
  keys: Pick<DeploymentKeys, 'apiKey' | 'authKey' | 'file' | 'isNew'>,
  isTerminal: boolean,
  setup?: SetupPlace,
): string {
  const origin = `${config.tls === undefined ? 'http' : 'https'}://${hostOf(address)}`
  const base = `${origin}/v3`
  const pages = [
    ...(config.demo ? [`  Demo           ${origin}/demo`] : []),
    ...(config.docs ? [`  Reference      ${origin}/docs`] : []),
    ...(config.console ? [`  Console        ${originOfConsole(address, config)}/console`] : []),
  ]
  const lines = keys.isNew
    ? [
        'Parley is running.',
        '',
        `  Base address   ${base}`,
        `  App id         ${config.appId}`,
        `  Region         ${config.region}`,
        ...pages,
        ...(isTerminal ? linesOf(keys) : []),
        `  ${isTerminal ? 'Kept in ' : 'Keys    '}       ${keys.file}`,
        '',
        'Try it:',
        '',
        ...(isTerminal ? [] : [`  . '${keys.file.replaceAll("'", "'\\''")}'`]),
        `  curl ${config.tls === 'self-signed' ? '-k ' : ''}${base}/users -H ${isTerminal ? `'apikey: ${keys.apiKey}'` : '"apikey: $PARLEY_API_KEY"'} -H 'content-type: application/json' -d '{"uid": "alice", "name": "Alice"}'`,
      ]
    : [
        `Parley is running at ${base} (app ${config.appId}, region ${config.region}).`,
        ...pages,
        `Its keys are kept in ${keys.file}.`,
      ]
  return ['', ...lines, ...linesOfSetup(setup), ''].join('\n')
}

/** The address is alone on its line, so that it can be taken whole. */
function linesOfSetup(setup: SetupPlace | undefined): string[] {
  if (setup === undefined) return []
  if ('file' in setup)
    return ['', `There is no operator yet. A one-time address to become the owner is in ${setup.file}.`]
  return [
    '',
    'There is no operator yet. Become the owner within an hour at this address, which works once:',
    '',
    setup.address,
  ]
}

function linesOf({ apiKey, authKey }: Pick<DeploymentKeys, 'apiKey' | 'authKey'>): string[] {
  return [
    `  REST API key   ${apiKey}   (fullAccess)`,
    ...(authKey === undefined ? [] : [`  Auth key       ${authKey}   (authOnly, for development)`]),
  ]
}

function hostOf({ address, port, family }: AddressInfo): string {
  const isEverywhere = address === '0.0.0.0' || address === '::'
  const host = isEverywhere ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address
  return `${host}:${port}`
}
