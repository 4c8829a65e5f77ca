import { describe, expect, inject, it } from 'vitest'
import { operatorsCommand } from '../../src/cli/operators.ts'
import { createOwner, meOf, newEmail, password, Visitor } from '../admin/operator.ts'
import { dataOf } from '../support/chat.ts'
import { databaseUrl } from '../support/own-database.ts'
import { testMasterKey } from '../support/service.ts'
import { createWorld } from '../support/world.ts'
import { runCommand } from './command.ts'

const environment = (): Record<string, string> => ({
  DATABASE_URL: databaseUrl(inject('connection')),
  PARLEY_MASTER_KEY: testMasterKey,
})

const operators = (args: string[], more: Record<string, string> = {}) =>
  runCommand(operatorsCommand, args, { ...environment(), ...more })

describe('parley operators', () => {
  it('prints an address at which somebody becomes an owner, also where there are some already', async () => {
    const world = await createWorld()
    const { code, out } = await operators(['setup'], { PUBLIC_URL: 'https://chat.example.com' })
    expect(code).toBe(0)
    const [, token] = /^https:\/\/chat\.example\.com\/console#setup=([\w-]{43})\n$/.exec(out) ?? []
    const visitor = new Visitor(world.url)
    dataOf(await visitor.post('/setup', { token, email: newEmail(), name: 'Olga', password }))
    expect(await meOf(visitor)).toMatchObject({ role: 'owner', apps: null })
  })

  it('names the port that the console has for itself', async () => {
    const { out } = await operators(['setup'], { ADMIN_PORT: '9200', PUBLIC_URL: 'https://chat.example.com' })
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:9200\/console#setup=/)
  })

  it('lists who looks after the service', async () => {
    const world = await createWorld()
    const email = newEmail()
    await createOwner(world, email)
    const { code, out } = await operators(['list'])
    expect(code).toBe(0)
    expect(out.split('\n')).toContain(`${email}\towner\tall apps\tactive`)
  })

  it('says what is wrong', async () => {
    expect(await operators([])).toMatchObject({ code: 2, err: expect.stringContaining('Usage: parley operators') })
    expect(await operators(['dismiss'])).toMatchObject({ code: 2 })
    expect(await operators(['list', '--all'])).toMatchObject({ code: 2 })
    const away = { DATABASE_URL: 'postgres://127.0.0.1:9/none' }
    expect(await operators(['list'], away)).toMatchObject({
      code: 3,
      err: expect.stringContaining('parley operators:'),
    })
    const wrongKey = { PARLEY_MASTER_KEY: 'ff'.repeat(32) }
    expect(await operators(['setup'], wrongKey)).toMatchObject({ code: 3, out: '' })
  })
})
