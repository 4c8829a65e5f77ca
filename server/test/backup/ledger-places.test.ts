import { appendFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createLedgerFolder } from '../../src/backup/ledger/places.ts'
import { temporaryFolder } from './scene.ts'

it('a line of the ledger that a crash cut off takes no other with it', async () => {
  const parent = await temporaryFolder()
  const ledger = createLedgerFolder(parent)
  const entry = (id: number) => ({ of: 'a', id, kind: 'erased', app: 1, digest: 'q80=', at: 1_700_000_000_000 })
  await ledger.append([entry(1)])
  const [name = ''] = await readdir(path.join(parent, 'ledger'))
  await appendFile(path.join(parent, 'ledger', name), JSON.stringify(entry(2)).slice(0, 20))
  await ledger.append([entry(2)])
  await ledger.append([entry(3)])
  expect((await ledger.read()).map(({ id }) => id)).toEqual([1, 2, 3])
})
