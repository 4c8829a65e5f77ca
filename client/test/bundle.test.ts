import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { type ClientWorld, createClientWorld } from './support.ts'

const entry = new URL('../src/index.ts', import.meta.url).pathname

async function bundle(contents: string, format: 'esm' | 'iife', minify = true) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    ...{ bundle: true, write: false, metafile: true, platform: 'neutral', globalName: 'parley', target: 'es2022' },
    ...{ format, minify },
  })
  const [output] = Object.values(metafile.outputs)
  return {
    code: outputFiles[0]!.text,
    imports: output!.imports,
    size: gzipSync(outputFiles[0]!.contents, { level: 9 }).length,
  }
}

describe('The client as it is shipped', () => {
  let world: ClientWorld
  beforeAll(async () => {
    world = await createClientWorld()
  })

  it('imports nothing, and is below 20 kB gzipped', async () => {
    const { imports, size } = await bundle(`export * from '${entry}'`, 'esm')
    expect(imports).toEqual([])
    expect(size).toBeLessThan(20_000)
  })

  it('leaves out of front ends what only back ends call', async () => {
    const { code } = await bundle(`export { createUserClient } from '${entry}'`, 'esm')
    expect(code).toContain('/blockedusers')
    expect(code).not.toContain('/apikeys')
  })

  it('runs where there is no Node.js, no page and no WebSocket, and touches nothing global', async () => {
    const { code } = await bundle(`export * from '${entry}'`, 'iife')
    const given = { fetch, setTimeout, clearTimeout, AbortController, FormData, crypto: globalThis.crypto }
    const context = createContext({ ...given })
    runInContext(`${code};globalThis.result = parley`, context)
    const { parley } = context
    const server = parley.createServerClient({ url: world.url, appId: world.app.name, apiKey: world.apiKey })
    await server.users.create({ uid: 'bare', name: 'Bare' })
    const { authToken } = await server.users.tokens.create({ uid: 'bare' })
    const user = parley.createUserClient({ url: world.url, appId: world.app.name, authToken })
    const message = { receiver: 'bare', receiverType: 'user', data: { text: 'to myself' } }
    expect(await user.messages.send(message)).toMatchObject({ sender: 'bare' })
    await expect(user.users.get({ uid: 'nobody' })).rejects.toMatchObject({
      name: 'ParleyError',
      code: 'ERR_UID_NOT_FOUND',
    })
    const added = Object.keys(context).filter((name) => !(name in given) && name !== 'result' && name !== 'parley')
    expect(added).toEqual([])
  })

  it('says what is missing where nothing makes random numbers, and takes a source of them', async () => {
    const { code } = await bundle(`export * from '${entry}'`, 'iife')
    const context = createContext({ fetch, setTimeout, clearTimeout, AbortController })
    runInContext(code, context)
    const options = { url: world.url, appId: world.app.name, apiKey: world.apiKey }
    const message = { receiver: 'bare', receiverType: 'user', data: { text: 'hello' } }
    const { parley } = context
    await expect(parley.createServerClient(options).messages.send(message)).rejects.toThrow('pass the option random')
    const random = (bytes: Uint8Array) => globalThis.crypto.getRandomValues(bytes)
    const sent = await parley.createServerClient({ ...options, random }).messages.send(message)
    expect(sent.muid).toMatch(/^[0-9a-f]{32}$/)
  })
})
