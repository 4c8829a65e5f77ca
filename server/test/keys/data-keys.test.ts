import { createCipheriv, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { sealedColumns } from '../../src/sealed.ts'
import { derivedKeys, MasterKeyError, openSecrets } from '../../src/store/data-keys.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import {
  abandonNewMasterKey,
  addMasterKey,
  endOldMasterKeys,
  readMasterState,
  writeWithNewest,
} from '../../src/store/master-rotation.ts'
import { countOld, reseal } from '../../src/store/reseal.ts'
import { createSecrets } from '../../src/store/secrets.ts'
import { statement } from '../../src/store/statement.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'

const log = createLog('silent')
const keyOf = (digit: string) => digit.repeat(64)
const nobodyHears = { announce: async () => {} }
const record = async () => {}

/** A database of its own for each test: the keys of one stand in it once. */
const made: Array<{ own: OwnDatabase; database: Database }> = []
async function newDatabase(): Promise<Database> {
  const own = await createOwnDatabase()
  const database = openDatabase(own.connection)
  made.push({ own, database })
  return database
}
afterAll(async () => {
  for (const { own, database } of made) {
    await database.close()
    await own.drop()
  }
})

describe('the keys that secrets are kept with', () => {
  it('are those of the first start for every process, and none for another master key', async () => {
    const database = await newDatabase()
    const [first, second] = await Promise.all([
      openSecrets(database, [keyOf('a')]),
      openSecrets(database, [keyOf('a')]),
    ])
    expect(second.unseal(first.seal('hello'))).toBe('hello')
    expect(second.digest('hello')).toEqual(first.digest('hello'))
    await expect(openSecrets(database, [keyOf('b')])).rejects.toThrow(MasterKeyError)
    await expect(openSecrets(database, [keyOf('b')])).rejects.toThrow(/Set PARLEY_MASTER_KEY .* keys\.env/)
    // Nothing of them follows from the master key alone.
    const derived = createSecrets(() => derivedKeys(keyOf('a')))
    expect(derived.digest('hello')).not.toEqual(first.digest('hello'))
    expect(() => derived.unseal(first.seal('hello'))).toThrow()
  })

  it('are made by one of several that start at the same time with different master keys; the others are refused', async () => {
    const database = await newDatabase()
    const opened = await Promise.allSettled(['a', 'b', 'c'].map((digit) => openSecrets(database, [keyOf(digit)])))
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of opened) if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(MasterKeyError)
  })

  it('stay those that a database of 0.1.0 was written with', async () => {
    const database = await newDatabase()
    const before = createSecrets(() => derivedKeys(keyOf('a')))
    await database.query(statement(`insert into settings values ('master_key_check', $1)`), [
      before.digest('master key check').toString('hex'),
    ])
    await expect(openSecrets(database, [keyOf('b')])).rejects.toThrow(MasterKeyError)
    const secrets = await openSecrets(database, [keyOf('a')])
    expect(secrets.digest('hello')).toEqual(before.digest('hello'))
    expect(secrets.unseal(before.seal('hello'))).toBe('hello')
    // And what is sealed now opens in processes of 0.1.0 that still run.
    expect(before.unseal(secrets.seal('hello'))).toBe('hello')
  })
})

describe('a change of the master key', () => {
  it('is not noticed by what runs: what was sealed opens, before, during and after', async () => {
    const database = await newDatabase()
    const running = await openSecrets(database, [keyOf('a')])
    const sealedBefore = running.seal('before')
    const digest = running.digest('before')
    await addMasterKey({ database, invalidation: nobodyHears, record }, running.held, {
      masterKey: keyOf('a'),
      newKey: keyOf('b'),
    })
    const started = await openSecrets(database, [keyOf('b')])
    expect(started.unseal(sealedBefore)).toBe('before')
    // Until all have the new key, it is not written with.
    expect(running.unseal(started.seal('during'))).toBe('during')
    await running.reload([keyOf('a')])
    await writeWithNewest({ database, invalidation: nobodyHears })
    await started.reload([keyOf('b')])
    const sealedAfter = started.seal('after')
    expect(running.unseal(sealedAfter)).toBe('after')
    expect(await endOldMasterKeys({ database, invalidation: nobodyHears, record })).toBe(1)
    await expect(openSecrets(database, [keyOf('a')])).rejects.toThrow(/It was changed on \d{4}-\d\d-\d\d\./)
    // Whoever lost its master key goes on with what it holds.
    await expect(running.reload([keyOf('a')])).rejects.toThrow(MasterKeyError)
    expect(running.unseal(sealedAfter)).toBe('after')
    for (const secrets of [running, started, await openSecrets(database, [keyOf('b')])]) {
      expect(secrets.unseal(sealedBefore)).toBe('before')
      expect(secrets.digest('before')).toEqual(digest)
    }
  })

  it('is taken back as long as the new one is not in its place; one begins when the one before has ended', async () => {
    const database = await newDatabase()
    const store = { database, invalidation: nobodyHears, record }
    const { held } = await openSecrets(database, [keyOf('a')])
    await expect(abandonNewMasterKey(store, held.master)).rejects.toThrow('is not being changed')
    await addMasterKey(store, held, { masterKey: keyOf('a'), newKey: keyOf('b') })
    await expect(addMasterKey(store, held, { masterKey: keyOf('a'), newKey: keyOf('c') })).rejects.toThrow('already')
    const { newest } = await readMasterState(database)
    await expect(abandonNewMasterKey(store, newest)).rejects.toThrow('in its place already')
    await abandonNewMasterKey(store, held.master)
    await expect(openSecrets(database, [keyOf('b')])).rejects.toThrow(MasterKeyError)
    await addMasterKey(store, (await openSecrets(database, [keyOf('a')])).held, {
      masterKey: keyOf('a'),
      newKey: keyOf('c'),
    })
    await openSecrets(database, [keyOf('c')])
  })
})

describe('sealing anew', () => {
  let database: Database
  beforeAll(async () => {
    database = await newDatabase()
  })

  it('reaches every column, leaves what others write meanwhile, and what it finds opens as before', async () => {
    const secrets = await openSecrets(database, [keyOf('a')])
    const insertToken = statement(
      `insert into auth_tokens (app_id, digest, sealed, uid, created_at) values (1, $1, $2, 'alice', 1)`,
    )
    const names = Array.from({ length: 1_500 }, (_, i) => `token ${i}`)
    for (const name of names) await database.query(insertToken, [secrets.digest(name), secrets.seal(name)])
    await addMasterKey({ database, invalidation: nobodyHears, record }, secrets.held, {
      masterKey: keyOf('a'),
      newKey: keyOf('b'),
    })
    await writeWithNewest({ database, invalidation: nobodyHears })
    await secrets.reload([keyOf('b')])
    expect(await countOld(database, sealedColumns, secrets)).toBe(1_500)

    const change = statement('update auth_tokens set sealed = $2 where digest = $1')
    const changing = (async () => {
      for (const name of names.slice(0, 200)) {
        await database.query(change, [secrets.digest(name), secrets.seal(`${name}!`)])
      }
    })()
    const done = await reseal({ database, secrets, log, columns: sealedColumns })
    await changing
    expect(done).toBeGreaterThanOrEqual(1_300)
    expect(await countOld(database, sealedColumns, secrets)).toBe(0)
    const rows = await database.query<{ digest: Buffer; sealed: Buffer }>(
      statement('select digest, sealed from auth_tokens'),
    )
    const kept = new Map(rows.map(({ digest, sealed }) => [digest.toString('hex'), secrets.unseal(sealed)]))
    for (const [i, name] of names.entries()) {
      expect(kept.get(secrets.digest(name).toString('hex'))).toBe(i < 200 ? `${name}!` : name)
    }
    // There is nothing more to do, and nobody goes through it again.
    expect(await reseal({ database, secrets, log, columns: sealedColumns })).toBeUndefined()
  })

  it('knows every column of the database that may hold a sealed value', async () => {
    const others = [
      'digest',
      'auth_digest',
      'password_digest',
      'created_by_key',
      'origin',
      'wrapped',
      'state',
      'browser',
    ]
    const columns = await database.query<{ name: string }>(
      statement(`
        select table_name || '.' || column_name as name
        from information_schema.columns
        where table_schema = 'public'
        and data_type = 'bytea'
        and not column_name = any($1)
        and not (table_name = 'operators' and column_name = 'password')
        -- digests that prove the entries
        and table_name not in ('audit_log', 'audit_chains')
        order by 1`),
      [others],
    )
    const known = sealedColumns.map(({ table, column }) => `${table}.${column}`)
    expect(known.toSorted()).toEqual(columns.map(({ name }) => name).toSorted())
  })
})

it('A value of the first version that begins like a later one is opened as what it is', async () => {
  const keys = derivedKeys(keyOf('a'))
  const seal = new Map([...keys.seal, [2, randomBytes(32)]])
  const later = createSecrets(() => ({ ...keys, seal, current: 2 }))
  const iv = Buffer.concat([Buffer.from('pk1'), Buffer.from([0, 2]), randomBytes(7)])
  const cipher = createCipheriv('aes-256-gcm', keys.seal.get(1) as Buffer, iv)
  const content = Buffer.concat([cipher.update('hello'), cipher.final()])
  expect(later.unseal(Buffer.concat([iv, cipher.getAuthTag(), content]))).toBe('hello')
  const sealed = later.seal('hello')
  expect(later.unseal(sealed)).toBe('hello')
  // A version that this process has not heard of is named.
  const unaware = createSecrets(() => keys)
  expect(() => unaware.unseal(sealed)).toThrow('version 2 of the key')
  sealed.writeUInt8(sealed.readUInt8(sealed.length - 1) ^ 1, sealed.length - 1)
  expect(() => later.unseal(sealed)).toThrow()
})
