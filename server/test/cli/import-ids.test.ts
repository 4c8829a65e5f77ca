import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { importCommand, systemClock } from '../../src/cli/import/run.ts'
import { dataOf } from '../support/chat.ts'
import { recordsOf, withFolder } from '../support/exports.ts'
import { text, usersNamed } from '../support/imports.ts'
import { createWorld, type World } from '../support/world.ts'
import { collect } from './import-world.ts'

const t0 = 1_650_000_000
/** The first that an app does not take. */
const tooHigh = 10 ** 12

async function runImport({ url, apiKey, app }: World, folder: string, ...more: string[]) {
  const stdout = collect()
  const io = { stdout, stderr: collect(), env: {}, cwd: folder, clock: systemClock }
  const to = ['--url', url, '--apikey', apiKey, '--app', app.name]
  const { signal } = new AbortController()
  return { code: await importCommand([folder, ...to, ...more], { ...io, signal }), stdout: stdout.text() }
}

async function put(folder: string, kind: string, records: readonly object[]): Promise<void> {
  await writeFile(path.join(folder, `${kind}.ndjson`), records.map((record) => `${JSON.stringify(record)}\n`).join(''))
}

describe('the table of ids that an import writes', () => {
  it('has every message with an id that got another one, and none of those that could be taken', async () => {
    const world = await createWorld()
    await withFolder(async (folder) => {
      const people = Array.from({ length: 10 }, (_, n) => `user${n}`)
      await put(folder, 'users', usersNamed('alice', ...people))
      // One era is that before a restore, which steps ids far ahead: in each conversation, so that each request has some.
      const messages = people.flatMap((uid, n) => [
        text(`new${n}`, 'alice', uid, t0, { id: tooHigh + n }),
        text(`old${n}`, 'alice', uid, t0 + 1, { id: 700_000_000 + n }),
        text(`none${n}`, 'alice', uid, t0 + 2),
      ])
      const others = [
        { ...text('a', 'alice', 'user0', t0 + 3), id: 'of "another" system' },
        { ...text('b', 'alice', 'user0', t0 + 4), id: '9007199254740993' },
      ]
      await put(folder, 'messages', [...messages, ...others])
      for (const _ of ['once', 'twice']) {
        const { code, stdout } = await runImport(world, folder, '--batch', '1')
        expect(code, stdout).toBe(0)
        expect(stdout).toContain('New ids were drawn for 12 messages')
        expect((await readdir(folder)).filter((name) => name.includes('ids'))).toEqual(['ids.ndjson'])
        const pairs = new Map((await recordsOf(folder, 'ids.ndjson')).map(({ from, to }) => [from, to]))
        const expected = [...people.map((_, n) => String(tooHigh + n)), ...others.map(({ id }) => id)]
        expect([...pairs.keys()].sort()).toEqual(expected.sort())
        for (const [n] of people.entries()) {
          expect(dataOf(await world.get(`/messages/${pairs.get(String(tooHigh + n))}`)).data.text).toBe(`new${n}`)
          expect(dataOf(await world.get(`/messages/${700_000_000 + n}`)).data.text).toBe(`old${n}`)
        }
      }
    })
  })
})
