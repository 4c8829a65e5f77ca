import { access, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorsOf } from './support/headings.ts'

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

describe('links between documents', () => {
  it('lead to files and headings that are there', async () => {
    const documents = [
      ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
      ...(await readdir(path.join(repository, 'docs')))
        .filter((file) => file.endsWith('.md'))
        .map((file) => `docs/${file}`),
    ]
    const read = (file: string) => readFile(path.join(repository, file), 'utf8')
    const broken: string[] = []
    let followed = 0
    for (const document of documents) {
      const text = (await read(document)).replaceAll(/^```.*?^```/gms, '')
      for (const [, target = ''] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue
        followed++
        const [file = '', anchor] = target.split('#')
        const place = file === '' ? document : path.join(path.dirname(document), decodeURI(file))
        const isThere = await access(path.join(repository, place)).then(
          () => true,
          () => false,
        )
        const leads = isThere && (anchor === undefined || anchorsOf(await read(place)).has(anchor))
        if (!leads) broken.push(`${document}: ${target}`)
      }
    }
    expect(broken).toEqual([])
    expect(followed).toBeGreaterThan(300)
  })
})
