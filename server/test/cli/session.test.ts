import { expect, it } from 'vitest'
import { openExternal } from '../../src/cli/session.ts'

it.each([
  ['postgres://parley:secret@db.example.com/chat', 'db.example.com/chat'],
  ['postgres://parley:secret@db.example.com:6432/chat?sslmode=disable', 'db.example.com:6432/chat'],
  ['postgres:///chat?host=/run/postgresql', '/chat'],
  ['postgres://parley:secret@/chat?host=/run/postgresql', '/run/postgresql/chat'],
])('a database whose address is %s is named %s', (url, name) => {
  expect(openExternal(url)).toMatchObject({ name, connection: { connectionString: url } })
})
