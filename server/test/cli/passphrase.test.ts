import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportCommand } from '../../src/cli/export/run.ts'

describe('the file of a passphrase', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'parley-passphrase-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('is refused where it is empty or cannot be read, for secrets would be left out', async () => {
    const empty = path.join(folder, 'empty')
    await writeFile(empty, '\n')
    for (const file of [empty, path.join(folder, 'nothing'), folder]) {
      let told = ''
      const stdout = { write: () => true }
      const stderr = {
        write: (text: string) => {
          told += text
          return true
        },
      }
      const io = { cwd: folder, env: {}, stdout, stderr } as unknown as Parameters<typeof exportCommand>[1]
      expect(await exportCommand(['--into', 'export', '--passphrase-file', file], io)).toBe(2)
      expect(told).toContain(`${file} `)
    }
  })
})
