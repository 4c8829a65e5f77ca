import pg from 'pg'
import { expect, inject, it } from 'vitest'
import { isConnectionFailure } from '../../src/store/connection.ts'

const of = (code: string, syscall: string) => Object.assign(new Error(`${syscall} ${code}`), { code, syscall })

it('A database whose socket file is missing, or to which no connection can be opened, is away', async () => {
  const client = new pg.Client({ host: '/nowhere/of/parley', user: 'parley', database: 'parley' })
  const failure = await client.connect().catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'ENOENT', syscall: 'connect' })
  expect(isConnectionFailure(failure)).toBe(true)
  for (const code of ['EMFILE', 'ENFILE', 'EAGAIN', 'ECONNREFUSED']) {
    expect(isConnectionFailure(of(code, 'connect')), code).toBe(true)
  }
})

it('What goes wrong with files is nothing of the database', () => {
  for (const code of ['ENOENT', 'EMFILE', 'ENFILE', 'EAGAIN']) {
    expect(isConnectionFailure(of(code, 'open')), code).toBe(false)
  }
})

it('A transaction that the database has ended, since its process stood still, may be sent again', async () => {
  const client = new pg.Client({ ...inject('connection'), ssl: false, idle_in_transaction_session_timeout: 50 })
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  // As a process that is stopped: it hears of nothing until it asks for more.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  const failure = await client.query('select 1').catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Error)
  expect(isConnectionFailure(failure)).toBe(true)
  // What it is called depends on who is faster: the word of the database, or the end of the connection.
  expect(isConnectionFailure(Object.assign(new Error('terminating connection'), { code: '25P03' }))).toBe(true)
})
