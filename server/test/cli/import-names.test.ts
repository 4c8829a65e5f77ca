import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { findInputFiles } from '../../src/cli/import/input.ts'
import { createMessageNames, findNamed } from '../../src/cli/import/named.ts'
import { importCommand, systemClock } from '../../src/cli/import/run.ts'
import { dataOf } from '../support/chat.ts'
import { withFolder } from '../support/exports.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { collect, message, row } from './import-world.ts'

const { signal } = new AbortController()
const put = (folder: string, records: readonly object[]) =>
  writeFile(path.join(folder, 'messages.ndjson'), records.map((record) => `${JSON.stringify(record)}\n`).join(''))

describe('messages that share a muid', () => {
  it('keep their replies and quotes, and are there when they come again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dora')
    await withFolder(async (folder) => {
      await put(folder, [
        message('1', 'alice', 'bob'),
        message('1', 'carol', 'dora'),
        message('2', 'dora', 'carol', { parentMuid: '1' }),
        message('3', 'carol', 'dora', { quotedMuid: '1' }),
        message('1', 'carol', 'dora'),
      ])
      for (const stored of [4, 0]) {
        const stdout = collect()
        const to = ['--url', world.url, '--apikey', world.apiKey, '--app', world.app.name]
        const io = { stdout, stderr: collect(), env: {}, cwd: folder, clock: systemClock, signal }
        const code = await importCommand([folder, ...to], io)
        expect(row({ code, stdout: stdout.text(), stderr: '' }, 'messages')).toEqual([5, stored, 5 - stored, 0])
        expect(stdout.text()).toContain('2 conversations compared with the service: 2 same')
        expect(code).toBe(0)
      }
      const messages = dataOf(await world.get('/users/dora/messages', { as: 'carol' }))
      expect(messages).toHaveLength(3)
      const [first, reply, quoting] = messages
      expect(first.data.text).toBe('text of 1')
      expect(reply.parentId).toBe(first.id)
      expect(quoting.quotedMessage.id).toBe(first.id)
    })
  })
})

describe('the names of messages', () => {
  it('are remembered of those only that others name, by their id or their muid', async () => {
    await withFolder(async (folder) => {
      const records = [
        message('a', 'ann', 'bob', { id: '1' }),
        message('b', 'ann', 'bob', { id: '2' }),
        message('c', 'ann', 'bob', { id: '3' }),
        message('d', 'ann', 'bob', { id: '4', parentId: '2' }),
        message('e', 'bob', 'ann', { id: '5', quotedMuid: 'c' }),
      ]
      await put(folder, records)
      const [file] = await findInputFiles(folder)
      const named = await findNamed(file as NonNullable<typeof file>, signal)
      expect(['1', '2', '3', '4', '5'].filter(named.ids.has)).toEqual(['2'])
      expect(['a', 'b', 'c', 'd', 'e'].filter((muid) => named.muids.has(`ann_user_bob ${muid}`))).toEqual(['c'])
      const names = createMessageNames(named)
      for (const record of records) names.nameOf(record, record, record.muid)
      expect(['1', '2', '3', '4', '5'].map(names.muidOf)).toEqual(['1', 'b', '3', '4', '5'])
    })
  })
})
