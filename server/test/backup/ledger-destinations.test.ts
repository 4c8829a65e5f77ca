import { appendFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createLedgerBucket, createLedgerFolder, readLedger } from '../../src/backup/ledger/destinations.ts'
import { createFolderStorage } from '../../src/media/folder.ts'
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
  expect((await readLedger([ledger], 0)).map(({ id }) => id)).toEqual([1, 2, 3])
})

it('the ledger is read from everywhere that it is kept, without the tokens that were revoked long before the backup', async () => {
  const parent = await temporaryFolder()
  const places = [createLedgerFolder(parent), createLedgerBucket(createFolderStorage(await temporaryFolder()), '')]
  const day = 86_400_000
  const backedUpAt = 1_700_000_000_000
  const entry = (id: number, kind: string, at: number) => ({ of: 'a', id, kind, app: 1, digest: 'q80=', at })
  const early = entry(1, 'erased', backedUpAt - 50 * day)
  const old = entry(2, 'auth_token', backedUpAt - 50 * day)
  const late = Array.from({ length: 40 }, (_, i) => entry(3 + i, 'auth_token', backedUpAt - (30 - i) * day))
  for (const one of [early, old, ...late]) for (const place of places) await place.append([one])
  const ids = async (at: number) => (await readLedger(places, at)).map(({ id }) => id).sort((a, b) => a - b)
  expect(await ids(backedUpAt)).toEqual([1, ...late.map(({ id }) => id)])
  expect(await ids(0)).toEqual([1, 2, ...late.map(({ id }) => id)])
})
