import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { expect, inject, it } from 'vitest'
import { DatabaseAwayError } from '../../src/store/connection.ts'
import type { Transaction } from '../../src/store/database.ts'
import { isInDoubt } from '../../src/store/doubt.ts'
import { statement } from '../../src/store/statement.ts'
import { runTransaction } from '../../src/store/transaction.ts'

const echo = statement('select $1::int as said')
const fail = statement('select 1 / $1::int')

/** A connection that takes one query at a time, and what it is asked. */
async function openClient(): Promise<{ client: pg.Client; journal: string[] }> {
  const client = new pg.Client({ ...inject('connection'), ssl: false })
  await client.connect()
  const journal: string[] = []
  let underWay = 0
  const query = client.query.bind(client)
  client.query = (async (config: string | pg.QueryConfig) => {
    underWay++
    const { text, values = [] } = typeof config === 'string' ? { text: config } : config
    journal.push(underWay > 1 ? 'at once' : values.length > 0 ? String(values[0]) : text)
    try {
      return await query(config)
    } finally {
      underWay--
    }
  }) as typeof client.query
  return { client, journal }
}

const say = async (tx: Transaction, number: number) => {
  const [row] = await tx.query<{ said: number }>(echo, [number])
  return row?.said
}
const options = {
  isPipelined: false,
  onBroken(failure: Error) {
    throw failure
  },
}

it('Queries that a transaction asks at once go out one after the other, in their order', async () => {
  const { client, journal } = await openClient()
  const answers = await runTransaction(client, (tx) => Promise.all([1, 2, 3, 4].map((n) => say(tx, n))), options)
  expect(answers).toEqual([1, 2, 3, 4])
  expect(journal).toEqual(['begin', '1', '2', '3', '4', 'commit'])
  await client.end()
})

it('A transaction in which much was asked at once fails with what failed first', async () => {
  const client = new pg.Client({ ...inject('connection'), ssl: false, pipeline: true } as pg.ClientConfig)
  await client.connect()
  // What came after it is heard of first.
  const late = async (failure: Promise<unknown>) => {
    try {
      await failure
    } catch (error) {
      await setImmediate()
      throw error
    }
  }
  const work = (tx: Transaction) => Promise.all([late(tx.query(fail, [0])), say(tx, 1)])
  await expect(runTransaction(client, work, { ...options, isPipelined: true })).rejects.toMatchObject({ code: '22012' })
  await client.end()
})

it('A transaction that fails is rolled back after all that was asked, and nothing is asked in it afterwards', async () => {
  const { client, journal } = await openClient()
  const asked = (tx: Transaction) => [tx.query(fail, [0]), say(tx, 1), say(tx, 2)]
  const failing = runTransaction(client, (tx) => Promise.all(asked(tx)), options)
  await expect(failing).rejects.toMatchObject({ code: '22012' })
  expect(journal).toEqual(['begin', '0', '1', '2', 'rollback'])
  let former: Transaction | undefined
  const keep = async (tx: Transaction) => {
    former = tx
    return say(tx, 3)
  }
  expect(await runTransaction(client, keep, options)).toBe(3)
  await expect(say(former as Transaction, 4)).rejects.toThrow('The transaction is over.')
  expect(journal.slice(5)).toEqual(['begin', '3', 'commit'])
  await client.end()
})

it('A transaction is in doubt where the answer to its commit was lost, and something was to be done then', async () => {
  const { client } = await openClient()
  const query = client.query.bind(client)
  let lost = ''
  client.query = (async (config: pg.QueryConfig) => {
    const answer = await query(config)
    if (config.text === lost) throw new DatabaseAwayError()
    return answer
  }) as unknown as typeof client.query
  const outcomeOf = (text: string, act: (tx: Transaction) => void) => {
    lost = text
    const run = runTransaction(client, async (tx) => [act(tx), await say(tx, 1)], options)
    return run.then(() => 'done', isInDoubt)
  }
  const tellLater = (tx: Transaction) => tx.afterCommit(() => {})
  expect(await outcomeOf('commit', tellLater)).toBe(true)
  expect(await outcomeOf('commit', () => {})).toBe(false)
  expect(await outcomeOf(echo.text, tellLater)).toBe(false)
  await client.end()
})
