import { readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../../src/store/migrations/index.ts'
import { itWith } from '../gate/needs.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { until } from '../support/until.ts'
import { postgres15, startPostgres15 } from './support/external.ts'
import { expectSuccess, type Line, openLine } from './support/line.ts'
import { createStage } from './support/stage.ts'

const stage = createStage()
let started: ReturnType<typeof several> | undefined

afterAll(stage.clean)

async function select(connectionString: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query({ text, rowMode: 'array' })
  await client.end()
  return rows.map(([value]) => value)
}

async function statusOf(outcome: ReturnType<Line['call']>): Promise<number> {
  const result = await outcome
  if (result.kind === 'cut') throw new Error(`no answer: ${result.reason}`)
  return result.status
}

/** A service on the external server, and a line to it. */
async function startOn(connectionString: string): Promise<Line> {
  const service = await stage.start({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
  const url = await service.ready
  return openLine(() => url)
}

/**
 * Three that were started at once on a database that was empty, with one data folder between them, in which there were no
 * keys; several tests use them.
 */
function several(): Promise<{ connectionString: string; keys: string; urls: string[]; lines: Line[] }> {
  started ??= (async () => {
    const { url: connectionString, drop } = await createOwnDatabase({ isEmpty: true })
    stage.onClean(drop)
    const dataDir = stage.makeFolder()
    const environment = {
      ...{ DATA_DIR: dataDir, DATABASE_URL: connectionString },
      ...{ PARLEY_API_KEY: '', PARLEY_MASTER_KEY: '' },
    }
    const services = [1, 2, 3].map(() => stage.launch(environment))
    const urls = await Promise.all(services.map(({ ready }) => ready))
    const keys = await readFile(path.join(dataDir, 'keys.env'), 'utf8')
    const key = /^PARLEY_API_KEY=(\w+)$/m.exec(keys)?.[1]
    const lines = urls.map((url) => openLine(() => url, key))
    for (const line of lines) stage.onClean(line.close)
    return { connectionString, keys, urls, lines }
  })()
  return started
}

describe('several services start at once', () => {
  it('on an empty database: it is migrated once, and all serve the same app', async () => {
    const { connectionString, lines } = await several()
    const applied = await select(connectionString, 'select name from kysely_migration order by name')
    expect(applied).toEqual(Object.keys(migrations).sort())
    expect(await select(connectionString, 'select name from apps')).toEqual(['parley'])

    const [first, ...others] = lines
    await expectSuccess((first as Line).call('POST', '/users', { uid: 'zoe', name: 'Zoe' }))
    for (const line of others) {
      expect((await expectSuccess(line.call('GET', '/users/zoe'))).data.name).toBe('Zoe')
    }
  })

  it('with one data folder between them: they make one set of keys', async () => {
    const { keys, urls } = await several()
    const key = /^PARLEY_API_KEY=(\w+)$/m.exec(keys)?.[1]
    for (const url of urls) {
      const line = openLine(() => url)
      await expectSuccess(line.call('GET', '/users', undefined, { apiKey: key as string }))
      await line.close()
    }
  })
})

describe('two services on one database', () => {
  let a: Line
  let b: Line

  beforeAll(async () => {
    ;[a, b] = (await several()).lines as [Line, Line]
    for (const uid of ['alice', 'bob']) await expectSuccess(a.call('POST', '/users', { uid, name: uid }))
    const group = { guid: 'team', name: 'Team', type: 'public', owner: 'alice', members: { participants: ['bob'] } }
    await expectSuccess(b.call('POST', '/groups', group))
  })

  it('a key made on one works on the other, and stops working there once it is deleted', async () => {
    const { data } = await expectSuccess(a.call('POST', '/apikeys', { name: 'passing', scope: 'fullAccess' }))
    const key = { apiKey: data.apiKey as string }
    expect(await statusOf(b.call('GET', '/users', undefined, key))).toBe(200)
    await expectSuccess(a.call('DELETE', `/apikeys/${data.apiKey}`))
    await until(async () => (await statusOf(b.call('GET', '/users', undefined, key))) === 401)
  })

  it('a permission set on one holds for the very next send on the other', async () => {
    const send = (line: Line) =>
      statusOf(
        line.call(
          'POST',
          '/messages',
          { receiver: 'team', receiverType: 'group', data: { text: 'hi' } },
          { as: 'bob' },
        ),
      )
    const set = (line: Line, value: 'allow' | 'deny') =>
      expectSuccess(
        line.call('PUT', '/groups/team/scopes/participant/permissions', { permissions: { sendMessage: value } }),
      )
    for (let n = 0; n < 5; n++) {
      await set(a, 'deny')
      expect(await send(b)).toBe(403)
      expect(await send(a)).toBe(403)
      await set(b, 'allow')
      expect(await send(a)).toBe(200)
      expect(await send(b)).toBe(200)
    }
  })

  it('a member kicked on one cannot send on the other, and shows a new name at once', async () => {
    const body = { receiver: 'team', receiverType: 'group', data: { text: 'hi' } }
    await expectSuccess(b.call('POST', '/messages', body, { as: 'alice' }))
    await expectSuccess(a.call('PUT', '/users/alice', { name: 'Alicia' }))
    const { data } = await expectSuccess(b.call('POST', '/messages', body, { as: 'alice' }))
    expect(data.data.entities.sender.entity.name).toBe('Alicia')

    await expectSuccess(a.call('DELETE', '/groups/team/members/bob'))
    expect(await statusOf(b.call('POST', '/messages', body, { as: 'bob' }))).toBe(403)
  })

  it('a token made on one works on the other, and stops working there once it is deleted', async () => {
    const { data } = await expectSuccess(a.call('POST', '/users/alice/auth_tokens', {}))
    const url = `/users/alice/auth_tokens/${data.authToken}`
    expect(await statusOf(b.call('GET', url))).toBe(200)
    await expectSuccess(a.call('DELETE', url))
    expect(await statusOf(b.call('GET', url))).toBe(404)
  })
})

itWith(postgres15, 'the service runs on PostgreSQL 15', async () => {
  const line = await startOn(await startPostgres15(stage))
  const ok = async (...call: Parameters<Line['call']>) => (await expectSuccess(line.call(...call))).data
  for (const uid of ['alice', 'bob', 'carol']) await ok('POST', '/users', { uid, name: uid, tags: ['new'] })
  await ok('PUT', '/users/carol', { name: 'Carola' })
  expect(await ok('GET', '/users?searchKey=caro')).toHaveLength(1)
  const group = { guid: 'team', name: 'Team', type: 'public', owner: 'alice', members: { participants: ['bob'] } }
  await ok('POST', '/groups', group)
  await ok('POST', '/groups/team/members', { participants: ['carol'] })
  await ok('PUT', '/groups/team/members/carol', { scope: 'moderator' })
  expect(await ok('GET', '/groups/team/members')).toHaveLength(3)

  const toBob = { receiver: 'bob', receiverType: 'user', muid: 'once', data: { text: 'hello' } }
  const sent = await ok('POST', '/messages', toBob, { as: 'alice' })
  expect((await ok('POST', '/messages', toBob, { as: 'alice' })).id).toBe(sent.id)
  const toTeam = { receiver: 'team', receiverType: 'group', data: { text: 'all of you' } }
  await ok('POST', '/messages', toTeam, { as: 'alice' })

  const unread = async () =>
    (await ok('GET', '/conversations', undefined, { as: 'bob' })).map(
      ({ conversationId, unreadMessageCount }: Record<string, string>) => `${conversationId} ${unreadMessageCount}`,
    )
  expect((await unread()).sort()).toEqual(['alice_user_bob 1', 'group_team 1'])
  await ok('POST', '/users/alice/conversation/delivered', { messageId: Number(sent.id) }, { as: 'bob' })
  await ok('POST', '/users/alice/conversation/read', {}, { as: 'bob' })
  await ok('POST', '/groups/team/conversation/read', {}, { as: 'bob' })
  expect((await unread()).sort()).toEqual(['alice_user_bob 0', 'group_team 0'])
  await ok('DELETE', '/users/alice/conversation/read', {}, { as: 'bob' })
  expect((await unread()).sort()).toEqual(['alice_user_bob 1', 'group_team 0'])
  const [read] = await ok('GET', '/users/bob/messages', undefined, { as: 'alice' })
  expect(read.readAt).toBeGreaterThan(0)
  expect(await ok('GET', '/messages?count=true', undefined, { as: 'bob' })).toHaveLength(2)

  await ok('PUT', '/groups/team/scopes/participant/permissions', { permissions: { sendMessage: 'deny' } })
  expect(await statusOf(line.call('POST', '/messages', toTeam, { as: 'bob' }))).toBe(403)
  await ok('POST', '/groups/team/bannedusers/bob', {})
  await ok('DELETE', '/groups/team/members/carol')
  expect(await ok('GET', '/groups/team/bannedusers')).toHaveLength(1)
  await line.close()
})
