import pg from 'pg'
import { expect, it } from 'vitest'
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
