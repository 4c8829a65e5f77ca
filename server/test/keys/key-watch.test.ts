import { expect, it, onTestFinished } from 'vitest'
import { createLog } from '../../src/log.ts'
import { masterName, openSecrets } from '../../src/store/data-keys.ts'
import { openDatabase } from '../../src/store/database.ts'
import { createInvalidation } from '../../src/store/invalidation.ts'
import { readHolders, watchKeys } from '../../src/store/key-watch.ts'
import { createOwnDatabase } from '../support/own-database.ts'

it('a process that cannot read its master key for a moment stays listed with the one that it has', async () => {
  const own = await createOwnDatabase()
  const database = openDatabase(own.connection)
  onTestFinished(async () => {
    await database.close()
    await own.drop()
  })
  const masterKey = 'a'.repeat(64)
  const secrets = await openSecrets(database, [masterKey])
  const read = async () => {
    throw Object.assign(new Error('not permitted'), { code: 'EACCES' })
  }
  const watch = watchKeys({
    ...{ database, secrets, masterKey, log: createLog('silent') },
    ...{ invalidation: createInvalidation(database), source: { name: 'a file', read } },
  })
  await watch.start()
  try {
    expect(await readHolders(database)).toMatchObject([{ source: 'a file', master: masterName(masterKey) }])
  } finally {
    await watch.stop()
  }
})
