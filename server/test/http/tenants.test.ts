import type { Operation } from '@parley/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/routes.ts'
import { type Answer, createUsers, createWorld, send, type World } from '../support/world.ts'
import { furnish, type Ids, samples } from './samples.ts'
import { pathOf, queryOf } from './watched.ts'

/** Ids that are nowhere. */
const nowhere: Ids = {
  alice: 'ghost-a',
  bob: 'ghost-b',
  carol: 'ghost-c',
  dave: 'ghost-d',
  erin: 'ghost-e',
  team: 'ghost-team',
  messageId: '4000000000000001',
  groupMessageId: '4000000000000002',
  interactiveId: '4000000000000003',
  conversationId: 'ghost-a_user_ghost-b',
  helper: 'ghost-helper',
  role: 'ghost-role',
  apiKey: 'de'.repeat(20),
  authToken: `ghost-a_1700000000${'d'.repeat(30)}`,
  appId: 'ghost-app',
  webhook: 'ghostreceiver',
  pushToken: 'ghost-device',
  provider: 'ghost-provider',
  deliveryId: 'dlv_999999999_1',
  logId: '999999999',
  rule: 'ghost-rule',
  list: 'ghost-list',
  reason: 'ghost-reason',
  flaggedId: '4000000000000004',
  blockedId: '4000000000000005',
  noteId: '999999999',
}

/** Things that have no name that a second world could share. */
const unnamed = [
  'messageId',
  'groupMessageId',
  'interactiveId',
  'apiKey',
  'authToken',
  'deliveryId',
  'logId',
  'flaggedId',
  'blockedId',
  'noteId',
] as const

/** Of these each message has an outcome of its own. */
const inParts = ['review-flagged-messages', 'review-blocked-messages']

const operations = routes.map((route) => route.operation)
let theirs: World
let theirIds: Ids
let furnished: World
let furnishedIds: Ids

beforeAll(async () => {
  theirs = await createWorld()
  theirIds = await furnish(theirs)
  furnished = await createWorld()
  furnishedIds = await furnish(furnished)
})

/** Calls the operation's sample about the things that `ids` names, from another app. */
async function callFrom(world: World, operation: Operation, ids: Ids, actor: string | undefined) {
  const sample = samples[operation.id]?.(ids) ?? {}
  const as = sample.as === undefined ? undefined : (actor ?? sample.as)
  const answer = await send(
    world.url,
    operation.method,
    pathOf(operation, sample.params) + queryOf(sample.query),
    sample.body,
    {
      appid: world.app.name,
      ...(sample.token === undefined ? { apikey: world.apiKey } : { authtoken: sample.token }),
      ...(as !== undefined && { onbehalfof: as }),
    },
  )
  return { status: answer.status, body: shapeOf(answer, ids) }
}

/** The answer without what may differ between two calls: the ids asked for, numbers, keys made anew. */
function shapeOf({ body }: Answer, ids: Ids): unknown {
  const names = Object.entries(ids)
    .filter(([, id]) => !/^\d+$/.test(id))
    .sort(([, a], [, b]) => b.length - a.length)
  // Secrets and public keys go first: what is drawn by chance can hold a name such as `bob`.
  const withoutIds = (text: string) =>
    names
      .reduce(
        (masked, [name, id]) => masked.replaceAll(id, `<${name}>`),
        text.replaceAll(/whsec_[\w+/=]+/g, '<secret>').replaceAll(/\bB[\w-]{86}(?![\w-])/g, '<publicKey>'),
      )
      .replaceAll(/[0-9a-f]{30,}/g, '<secret>')
      .replaceAll(/\d+/g, '<number>')
  const mask = (value: unknown): unknown => {
    if (typeof value === 'string') return withoutIds(value)
    if (typeof value === 'number') return '<number>'
    if (Array.isArray(value)) return value.map(mask)
    if (typeof value !== 'object' || value === null) return value
    // `teamId` is a word, not the id of a team.
    const isWord = (key: string) => /^[a-z0-9]+([A-Z][a-z0-9]*)+$/.test(key)
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [isWord(key) ? key : withoutIds(key), mask(member)]),
    )
  }
  return mask(body)
}

/** All that can be read of a world. */
async function everything({ get }: World, ids: Ids): Promise<unknown> {
  // Not what tells the time, nor the end of the event log, whose ids all apps share.
  const moving = [
    'get-settings',
    'list-events',
    'list-my-events',
    'message-receipt-metrics',
    'get-moderation-queue',
    'get-moderation-stats',
  ]
  const reads = operations.filter(({ method, id }) => method === 'GET' && !moving.includes(id))
  return Promise.all(
    reads.map(async (operation) => {
      const { params, query, as } = samples[operation.id]?.(ids) ?? {}
      return [
        operation.id,
        (await get(pathOf(operation, params) + queryOf(query), as === undefined ? {} : { as })).body,
      ]
    }),
  )
}

/** Whoever calls once more: somebody new, where a user can do it but once. */
async function again(stranger: World, { id }: Operation): Promise<World> {
  if (id !== 'ask-for-export') return stranger
  const other = await createWorld()
  await createUsers(other, 'observer')
  return other
}

describe('an app', () => {
  it('is to another app as if it were nowhere, in every operation', async () => {
    const before = await everything(theirs, theirIds)
    for (const operation of operations) {
      const stranger = await createWorld()
      await createUsers(stranger, 'observer')
      const unknown = await callFrom(stranger, operation, nowhere, 'observer')
      const foreign = await callFrom(await again(stranger, operation), operation, theirIds, 'observer')
      expect(foreign, operation.id).toEqual(unknown)
      if (operation.path.includes('{')) expect(foreign.status, operation.id).toBeGreaterThanOrEqual(400)
    }
    expect(await everything(theirs, theirIds)).toEqual(before)
  })

  it('keeps its messages, keys and tokens to itself, also where another has users and groups of the same names', async () => {
    const before = await everything(theirs, theirIds)
    const concerned: string[] = []
    for (const operation of operations) {
      for (const name of unnamed) {
        const unknownId = { ...furnishedIds, [name]: nowhere[name] }
        const foreignId = { ...furnishedIds, [name]: theirIds[name] }
        const sample = samples[operation.id]
        if (JSON.stringify(sample?.(unknownId)) === JSON.stringify(sample?.(foreignId))) continue
        concerned.push(operation.id)
        const unknown = await callFrom(furnished, operation, unknownId, undefined)
        const foreign = await callFrom(furnished, operation, foreignId, undefined)
        expect(foreign, `${operation.id}, ${name}`).toEqual(unknown)
        if (inParts.includes(operation.id)) expect(JSON.stringify(foreign.body)).toContain('ERR_MESSAGE_ID_NOT_FOUND')
        else expect(foreign.status, `${operation.id}, ${name}`).toBeGreaterThanOrEqual(400)
      }
    }
    expect(concerned.length).toBeGreaterThan(20)
    expect(await everything(theirs, theirIds)).toEqual(before)
  })
})
