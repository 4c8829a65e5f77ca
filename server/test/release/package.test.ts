import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parse } from 'dotenv'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { version } from '../../src/version.ts'
import { describeWith, inLongSuite } from '../gate/needs.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'
import { outside, releaseFolder, repository, run } from './run.ts'

const tarballOf = (name: string) => path.join(releaseFolder, `${name}-${version}.tgz`)

/** A folder with nothing but a package.json, into which tarballs are installed. */
async function installInto(folder: string, ...packages: string[]): Promise<void> {
  await writeFile(path.join(folder, 'package.json'), '{"name":"bare","private":true,"type":"module"}')
  await run(folder, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages])
}

const strictly = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023', '--lib', 'es2023,dom']
const compiler = path.join(repository, 'node_modules/typescript/bin/tsc')

describeWith(inLongSuite, 'a release', () => {
  let folder: string
  beforeAll(async () => {
    await run(repository, process.execPath, ['tools/pack.mjs'])
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('is installed into a bare folder, starts, serves all pages, has all commands, and stops', async () => {
    folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'parley-package-')))
    await installInto(folder, tarballOf('parley'))
    expect(await run(folder, 'npx', ['--no-install', 'parley', '--version'])).toBe(`${version}\n`)
    expect(
      (await readdir(path.join(folder, 'node_modules'))).filter((name) => /vite|esbuild|typescript/.test(name)),
    ).toEqual([])

    const port = await findFreePort()
    const environment = { ...outside, PORT: String(port), LOG_LEVEL: 'warn', DATA_DIR: path.join(folder, 'data') }
    const command = path.join(folder, 'node_modules/.bin/parley')
    const service = spawn(command, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk) => (printed += chunk))
    const exited = once(service, 'exit')
    const base = `http://127.0.0.1:${port}`
    const parley = (...args: string[]) => run(folder, command, args, environment)
    try {
      await soon(async () => expect((await fetch(`${base}/ready`)).status, printed).toBe(200))
      const { PARLEY_API_KEY: apikey = '' } = parse(await readFile(path.join(folder, 'data/keys.env')))
      const created = await fetch(`${base}/v3/users`, {
        method: 'POST',
        headers: { apikey, 'content-type': 'application/json' },
        body: JSON.stringify({ uid: 'alice', name: 'Alice' }),
      })
      expect(await created.json()).toMatchObject({ data: { uid: 'alice', name: 'Alice' } })

      for (const page of ['/console', '/demo']) await expectWholePage(base, page)
      const reference = await (await fetch(`${base}/openapi.json`)).text()
      expect(JSON.parse(reference).info.version).toBe(version)
      expect(reference).toContain('"examples"')
      expect((await fetch(`${base}/docs`)).status).toBe(200)
      expect(await (await fetch(`${base}/metrics`)).text()).toContain(`parley_info{version="${version}"} 1`)

      expect(await parley('health', '--ready')).toContain('"status":"ready"')
      expect(await parley('apps', 'list')).toContain('parley')
      expect(await parley('operators', 'setup')).toContain(`${base}/console`)
      expect(await parley('doctor')).toContain('ok     member counts')
      const history = path.join(folder, 'node_modules/parley/docs/sample-history')
      await parley('import', history, '--url', base, '--apikey', apikey)
      await access(path.join(folder, 'node_modules/parley/deploy/systemd/parley.service'))
      expect(await parley('audit', 'parley')).toContain('data_imported')
    } finally {
      service.kill('SIGTERM')
    }
    expect(await exited, printed).toEqual([0, null])
  })

  it('has types for what it exports', async () => {
    await writeFile(
      path.join(folder, 'emulators.ts'),
      `import { type FcmPush, startFcmEmulator } from 'parley/emulators'
       const emulator = await startFcmEmulator()
       const pushes: readonly FcmPush[] = emulator.pushes
       console.log(pushes.length)
       await emulator.close()`,
    )
    const types = ['--typeRoots', path.join(repository, 'node_modules/@types'), '--types', 'node']
    await run(folder, process.execPath, [compiler, ...strictly, ...types, '--module', 'nodenext', 'emulators.ts'])
  })

  it('has libraries that are typed, run in Node.js, and are bundled for a page', async () => {
    const app = await realpath(await mkdtemp(path.join(os.tmpdir(), 'parley-libraries-')))
    try {
      const others = ['react', 'react-dom', '@types/react', '@types/react-dom'].map(versioned)
      await installInto(app, tarballOf('parley-client'), tarballOf('parley-react'), ...(await Promise.all(others)))
      await writeFile(
        path.join(app, 'main.tsx'),
        `import { createLiveClient, createServerClient } from '@parley/client'
         import { Chat, ParleyProvider } from '@parley/react'
         import '@parley/react/styles.css'
         import { createRoot } from 'react-dom/client'
         export const server = createServerClient({ url: 'http://127.0.0.1:8080', apiKey: 'k' })
         export const alice: Promise<{ uid: string }> = server.users.create({ uid: 'alice', name: 'Alice' })
         // @ts-expect-error a user has a name
         void server.users.create({ uid: 'alice' })
         const parley = createLiveClient({ url: location.origin, authToken: async () => 't' })
         createRoot(document.body).render(<ParleyProvider client={parley}><Chat initialPeer={{ uid: 'bob' }} /></ParleyProvider>)`,
      )
      for (const resolution of [['nodenext'], ['esnext', '--moduleResolution', 'bundler']]) {
        const args = [...strictly, '--jsx', 'react-jsx', '--types', 'react', '--module', ...resolution, 'main.tsx']
        await run(app, process.execPath, [compiler, ...args, '--noUncheckedSideEffectImports', 'false'])
      }
      const script =
        "const { createServerClient } = await import('@parley/client'); const { Chat } = await import('@parley/react'); console.log(typeof createServerClient, typeof Chat)"
      expect(await run(app, process.execPath, ['--input-type=module', '-e', script])).toBe('function function\n')
      const { outputFiles } = await build({
        ...{ absWorkingDir: app, entryPoints: ['main.tsx'], bundle: true, write: false, format: 'esm', outdir: 'out' },
        ...{ minify: true, jsx: 'automatic', logLevel: 'silent' },
      })
      expect(outputFiles.map((file) => path.extname(file.path)).sort()).toEqual(['.css', '.js'])
    } finally {
      await rm(app, { recursive: true, force: true })
    }
  })

  it('lists what it is made of, down to the libraries of the embedded PostgreSQL', async () => {
    const bill = JSON.parse(await readFile(path.join(releaseFolder, `parley-${version}.cdx.json`), 'utf8'))
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { purl: `pkg:npm/parley@${version}` } },
    })
    const parts: string[] = bill.components.map(({ purl }: { purl: string }) => decodeURIComponent(purl))
    expect(parts).toEqual(expect.arrayContaining([`pkg:npm/@parley/contract@${version}`, 'pkg:generic/openssl@1.1.1']))
    expect(parts.filter((purl) => /vite|esbuild|typescript|playwright/.test(purl))).toEqual([])
    const refs = new Set([bill.metadata.component, ...bill.components].map((one) => one['bom-ref']))
    const named = bill.dependencies.flatMap((one: { ref: string; dependsOn: string[] }) => [one.ref, ...one.dependsOn])
    expect(named.filter((ref: string) => !refs.has(ref))).toEqual([])
  })
})

/** The page itself, and every script and style that it names. */
async function expectWholePage(base: string, page: string): Promise<void> {
  // The first who asks has it read from disk.
  const html = await soon(async () => {
    const text = await (await fetch(`${base}${page}`)).text()
    expect(text).not.toContain('is being built')
    return text
  })
  expect(html).not.toContain('is not installed')
  const files = [...html.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, file]) => file as string)
  expect(
    files.some((file) => file.endsWith('.js')),
    html,
  ).toBe(true)
  for (const file of files) {
    const answer = await fetch(base + file)
    expect(answer.status, file).toBe(200)
    expect((await answer.text()).length, file).toBeGreaterThan(100)
  }
}

/** The version that the repository has. */
async function versioned(name: string): Promise<string> {
  const file = path.join(repository, 'node_modules', name, 'package.json')
  return `${name}@${(JSON.parse(await readFile(file, 'utf8')) as { version: string }).version}`
}
