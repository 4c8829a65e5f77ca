import { readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import path from 'node:path'
import { createSecureContext } from 'node:tls'
import type { Config } from '../config/index.ts'
import type { TlsMaterial } from './server.ts'

const validDays = 365
const renewBeforeMs = 7 * 24 * 3600 * 1000

/** The certificate to serve with; a self-signed one is made when needed and kept in the data folder. */
export async function loadTls(config: Config, dataDir: string): Promise<TlsMaterial | undefined> {
  if (config.tls === undefined) return undefined
  if (config.tls !== 'self-signed') {
    const [cert, key] = await Promise.all([
      readNamed('TLS_CERT_FILE', config.tls.certFile),
      readNamed('TLS_KEY_FILE', config.tls.keyFile),
    ])
    refuseUnusable(cert, key)
    return { cert, key }
  }
  return (await readKept(dataDir)) ?? makeSelfSigned(config.host, dataDir)
}

async function readNamed(variable: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new Error(`${variable}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function refuseUnusable(cert: Buffer, key: Buffer): void {
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw new Error(`TLS_CERT_FILE and TLS_KEY_FILE are no PEM certificate with its key: ${(error as Error).message}`)
  }
}

async function readKept(dataDir: string): Promise<TlsMaterial | undefined> {
  try {
    const kept = JSON.parse(await readFile(path.join(dataDir, 'self-signed.json'), 'utf8'))
    return kept.expiresAt - renewBeforeMs > Date.now() ? { cert: kept.cert, key: kept.key } : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

async function makeSelfSigned(host: string, dataDir: string): Promise<TlsMaterial> {
  const { generate } = await import('./self-signed.ts')
  const expiresAt = Date.now() + validDays * 24 * 3600 * 1000
  const names = [...new Set(['localhost', '127.0.0.1', host])]
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    algorithm: 'sha256',
    notAfterDate: new Date(expiresAt),
    extensions: [{ name: 'subjectAltName', altNames: names.map(nameOf) }],
  })
  const file = path.join(dataDir, 'self-signed.json')
  await writeFile(`${file}.new`, JSON.stringify({ cert: made.cert, key: made.private, expiresAt }), { mode: 0o600 })
  await rename(`${file}.new`, file)
  return { cert: made.cert, key: made.private }
}

const nameOf = (name: string) => (isIP(name) === 0 ? { type: 2 as const, value: name } : { type: 7 as const, ip: name })
