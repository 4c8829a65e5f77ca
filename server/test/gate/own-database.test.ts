import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { expect, it } from 'vitest'
import { createOwnDatabase } from '../support/own-database.ts'

it('A database is dropped once those who are about to leave have left', async () => {
  const { connection, drop } = await createOwnDatabase()
  const leaving = new pg.Client(connection)
  const errors: Error[] = []
  leaving.on('error', (error) => errors.push(error))
  await leaving.connect()
  const left = delay(200).then(() => leaving.end())
  await drop()
  await left
  expect(errors).toEqual([])
})

it('A database is dropped under whoever stays', async () => {
  const { connection, drop } = await createOwnDatabase()
  const staying = new pg.Client(connection)
  const cut = new Promise<Error>((resolve) => staying.on('error', resolve))
  await staying.connect()
  await drop(100)
  expect(await cut).toMatchObject({ code: '57P01' })
})
