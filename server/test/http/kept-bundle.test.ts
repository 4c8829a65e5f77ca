import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BundleFiles, createBundle, repository } from '../../src/http/kept-bundle.ts'
import { createLog } from '../../src/log.ts'

describe('the program of a page', () => {
  const log = createLog('silent')
  let folder: string
  let source: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'parley-bundle-'))
    source = path.join(folder, 'page.ts')
    await writeFile(source, 'one')
  })
  afterAll(() => rm(folder, { recursive: true }))

  const fromHere = (file: string) => path.relative(repository, file)
  const bundleOf = (build: () => Promise<BundleFiles | undefined>, kept = 'made') =>
    createBundle(log, { name: 'page', sources: [fromHere(source)], kept: fromHere(path.join(folder, kept)), build })
  const made = (text: string) => async (): Promise<BundleFiles> => new Map([['main.js', Buffer.from(text)]])
  const textOf = async (bundle: ReturnType<typeof bundleOf>) => String((await bundle.files())?.get('main.js'))

  it('is built in the background, and once for each version of its sources', async () => {
    let finish = (_files: BundleFiles) => {}
    const bundle = bundleOf(
      () =>
        new Promise((resolve) => {
          finish = resolve
        }),
    )
    bundle.start()
    expect(bundle.state).toBe('building')
    const files = bundle.files()
    // It is asked to build once it has looked at the sources.
    const finishing = setInterval(() => finish(new Map([['main.js', Buffer.from('first')]])), 5)
    await files
    clearInterval(finishing)
    expect([bundle.state, await textOf(bundle)]).toEqual(['ready', 'first'])

    expect(await textOf(bundleOf(made('never built')))).toBe('first')
    await writeFile(source, 'two')
    expect(await textOf(bundleOf(made('second')))).toBe('second')
  })

  it('is missing where it cannot be built', async () => {
    for (const build of [async () => undefined, () => Promise.reject(new Error('broken'))]) {
      const bundle = bundleOf(build, 'nothing')
      expect(await bundle.files()).toBeUndefined()
      expect(bundle.state).toBe('missing')
    }
  })
})
