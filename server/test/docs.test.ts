import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const repository = path.join(import.meta.dirname, '../..')
const sources = ['bench', 'client', 'console', 'contract', 'react', 'server'].map((workspace) => `${workspace}/src`)
const folders = [...sources, 'docs', 'server/test', 'tools']

describe('docs/architecture.md', () => {
  it('names files and folders that are there', async () => {
    const text = await readFile(path.join(repository, 'docs/architecture.md'), 'utf8')
    const listed = await Promise.all(
      folders.map(async (folder) =>
        (await readdir(path.join(repository, folder), { recursive: true })).map(
          (file) => `/${folder}/${file.split(path.sep).join('/')}`,
        ),
      ),
    )
    const files = listed.flat()
    const named = [...text.matchAll(/`([\w./-]+(?:\.ts|\.mjs|\/))`/g)].map(([, name]) => name as string)
    expect(named.length).toBeGreaterThan(50)
    const isThere = (name: string) =>
      name.endsWith('/')
        ? files.some((file) => `${file}/`.includes(`/${name}`))
        : files.some((file) => file.endsWith(`/${name}`))
    expect(named.filter((name) => !isThere(name))).toEqual([])
  })
})
