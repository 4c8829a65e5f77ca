import { readFile, truncate } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { openJournal } from '../../src/cli/move-in/journal.ts'
import { makeFolder } from './move-in-world.ts'
import { withShortWrites } from './short-writes.ts'

const open = (folder: string) => openJournal(folder, 'https://old.example.com', { seen: 0 })

describe('the journal of a move', () => {
  it('has whole lines where a disk takes them in parts', async () => {
    const folder = await makeFolder()
    const journal = await open(folder)
    const rows = Array.from({ length: 5 }, (_, n) => ({ id: n, text: `message ${n}` }))
    await withShortWrites(async () => {
      for (const row of rows)
        await journal.append('source/messages.ndjson', [row], () => {
          journal.state.seen += 1
        })
      await journal.close()
    })
    const lines = (await readFile(path.join(folder, 'source/messages.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows)
    const again = await open(folder)
    expect(again.state.seen).toBe(5)
    await again.close()
  })

  it('does not go on where a part of a file is gone, nor fills it', async () => {
    const folder = await makeFolder()
    const journal = await open(folder)
    await journal.append('ids.ndjson', [{ from: '1', to: '2' }])
    await journal.close()
    await truncate(path.join(folder, 'ids.ndjson'), 5)
    await expect(open(folder)).rejects.toThrow('is not whole')
    expect(await readFile(path.join(folder, 'ids.ndjson'), 'utf8')).toHaveLength(5)
  })

  it('never names more of an emptied file than there is', async () => {
    const folder = await makeFolder()
    const journal = await open(folder)
    await journal.append('ids.ndjson', [{ from: '1', to: '2' }])
    await journal.save()
    await journal.clear('ids.ndjson')
    const { files } = JSON.parse(await readFile(path.join(folder, 'checkpoint.json'), 'utf8'))
    expect(files).toEqual({ 'ids.ndjson': 0 })
    await journal.close()
  })
})
