import { expect, it } from 'vitest'
import { isInDoubt, noteDoubt } from '../../src/store/doubt.ts'

const failureOf = (message: string, more: object = {}) => Object.assign(new Error(message), more)

it.each([
  ['the connection was cut', failureOf('Connection terminated unexpectedly'), true],
  ['its socket was', failureOf('read ECONNRESET', { code: 'ECONNRESET' }), true],
  ['the database is shut down', failureOf('terminating connection', { code: '57P01', severity: 'FATAL' }), true],
  ['the disk is full', failureOf('could not extend file', { code: '53100', severity: 'ERROR' }), false],
  [
    'the disk is full, in German',
    failureOf('konnte Datei nicht erweitern', { code: '53100', severity: 'FEHLER' }),
    false,
  ],
  ['it was never sent', failureOf('Client has encountered a connection error and is not queryable'), false],
  ['a row is there twice', failureOf('duplicate key', { code: '23505', severity: 'ERROR' }), false],
])('whether something is in doubt: %s', (_, failure, expected) => {
  noteDoubt(failure)
  expect(isInDoubt(failure)).toBe(expected)
})
