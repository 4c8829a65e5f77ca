import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { blockMessage, releaseMessage, restoreMessage } from '../../src/areas/messages/index.ts'
import { lockConversation } from '../../src/chat/conversations/membership.ts'
import { traits } from '../../src/chat/messages/traits.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { type Pulled, pullEvents } from '../support/events.ts'
import { addRules } from '../support/held.ts'
import { groupText, importAll } from '../support/imports.ts'
import { find } from '../support/search.ts'
import { connect } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

type Deed = (world: World, id: string) => Promise<Answer>

const added: Array<() => void> = []
afterEach(async () => {
  for (const remove of added.splice(0)) remove()
})

/** A world in which what says `bad` is held. */
async function judgedWorld(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  added.push(addRules(world))
  return world
}

async function judgedTeam(): Promise<World> {
  const world = await judgedWorld()
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  return world
}

/** What moderation decided is told by events of its own, with the message. */
const ofChat = ({ trigger }: Pulled) => !trigger.startsWith('moderation_')
const unknown = '404 ERR_MESSAGE_ID_NOT_FOUND'
const reviewer = { by: { reviewer: 'rita' } }
const block = async ({ context, app }: World, id: string) =>
  expect(await blockMessage(context, app, Number(id), reviewer)).toMatchObject({ blocked: true })
const idsOf = (messages: ReadonlyArray<{ id: string }>) => messages.map(({ id }) => id)

/** Of what can be done with a message besides reading, editing and deleting it, what is not answered as for an unknown id. */
async function deedsOn(world: World, id: string, uid: string | undefined, peer: string): Promise<string[]> {
  const options = uid === undefined ? {} : { as: uid }
  const body = { receiver: peer, receiverType: 'user', data: { text: 'about it' } }
  const ofUsers: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
    ['POST', `/messages/${id}/save`],
    ['DELETE', `/messages/${id}/save`],
    ['POST', `/messages/${id}/reactions/ok`],
    ['DELETE', `/messages/${id}/reactions/ok`],
    ['POST', `/messages/${id}/thread/subscription`],
    ['DELETE', `/messages/${id}/thread/subscription`],
    ['POST', `/messages/${id}/thread`, body],
    ['POST', `/users/${peer}/conversation/delivered`, { messageId: id }],
    ['POST', `/users/${peer}/conversation/read`, { messageId: id }],
    ['DELETE', `/users/${peer}/conversation/read`, { messageId: id }],
  ]
  const deeds: typeof ofUsers = [
    ['POST', `/messages/${id}/pin`],
    ['DELETE', `/messages/${id}/pin`],
    ['POST', '/messages', { ...body, parentId: id }],
    ['POST', '/messages', { ...body, quotedMessageId: id }],
    ...(uid === undefined ? [] : ofUsers),
  ]
  const outcomes = await Promise.all(
    deeds.map(async ([method, path, sent]) => [
      `${method} ${path}`,
      refusal(await world.call(method, path, sent, options)),
    ]),
  )
  return outcomes.flatMap(([deed, outcome]) => (outcome === unknown ? [] : `${deed}: ${outcome}`))
}

describe('Whoever wrote what is held', () => {
  it('finds it in the list of its conversation, however it is asked, and nowhere else before something is visible there', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    const lists = [
      '',
      '?category=message',
      `?fromTimestamp=${held.sentAt}`,
      '?updatedAt=1',
      '?affix=prepend&hideDeleted=1',
    ]
    for (const query of lists) {
      expect([query, ...texts(await world.get(`/users/bob/messages${query}`, { as: 'alice' }))]).toEqual([query, 'bad'])
      expect(dataOf(await world.get(`/users/alice/messages${query}`, { as: 'bob' }))).toEqual([])
    }
    expect(dataOf(await world.get(`/messages/${held.id}`, { as: 'alice' }))).toMatchObject({ id: held.id })
    expect(dataOf(await world.get('/messages?conversationId=alice_user_bob', { as: 'alice' }))).toHaveLength(1)
    for (const as of ['alice', 'bob']) {
      const peer = as === 'alice' ? 'bob' : 'alice'
      expect(dataOf(await world.get('/conversations', { as }))).toEqual([])
      expect(refusal(await world.get(`/users/${peer}/conversation`, { as }))).toBe(
        '403 ERR_CONVERSATION_NOT_ACCESSIBLE',
      )
      expect(refusal(await world.get('/conversations/alice_user_bob', { as }))).toBe('404 ERR_CONVERSATION_NOT_FOUND')
      expect(await find(world, 'bad', '/messages', as)).toEqual([])
    }
    expect(dataOf(await world.get('/conversations'))).toEqual([])
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('goes on from it and up to it: beyond what everybody sees it is the end', async () => {
    const world = await judgedTeam()
    const first = await sayInGroup(world, 'bob', 'team', 'first')
    const held = await sayInGroup(world, 'alice', 'team', 'bad')
    const list = async (as: string, query: string) => texts(await world.get(`/groups/team/messages?${query}`, { as }))
    for (const filter of ['', '&category=message']) {
      expect(await list('alice', `affix=append&id=${first.id}${filter}`)).toEqual(['bad'])
      expect(await list('alice', `affix=prepend&id=${held.id}${filter}`)).toEqual(['first'])
      expect(await list('bob', `affix=append&id=${first.id}${filter}`)).toEqual([])
    }
    for (const query of ['affix=prepend', `affix=append&id=${first.id}`, `sentAt[from]=${held.sentAt}`]) {
      const ofAll = async (as: string) => texts(await world.get(`/messages?${query}`, { as }))
      expect([query, (await ofAll('alice')).at(-1)]).toEqual([query, 'bad'])
      expect(await ofAll('bob')).not.toContain('bad')
    }
    await sayInGroup(world, 'bob', 'team', 'last')
    expect(await list('alice', `affix=append&id=${held.id}`)).toEqual(['last'])
    expect(await list('alice', '')).toEqual(['first', 'bad', 'last'])
    expect(await list('bob', '')).toEqual(['first', 'last'])
    const { meta } = (await world.get('/groups/team/messages?affix=append&limit=1', { as: 'bob' })).body
    expect(meta.next.id).toBe(first.id)
  })

  it('edits and deletes it, which their other devices hear of, and nobody else', async () => {
    const world = await judgedWorld()
    const puller = await pullEvents(world)
    await say(world, 'bob', 'alice', 'hello')
    const held = await say(world, 'alice', 'bob', 'bad')
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    for (const remove of added.splice(0)) remove()
    const edited = dataOf(await world.put(`/messages/${held.id}`, { data: { text: 'better' } }, { as: 'alice' }))
    expect(edited.data.action).toBe('edited')
    const { text, moderation } = edited.data.entities.on.entity.data
    expect([text, moderation.status]).toEqual(['better', 'disapproved'])
    const deleted = dataOf(await world.delete(`/messages/${held.id}`, {}, { as: 'alice' }))
    expect(dataOf(await world.delete(`/messages/${held.id}`, {}, { as: 'alice' })).data.action).toBe('deleted')
    await say(world, 'alice', 'bob', 'after')
    await bob.takeText('after')
    await alice.takeText('after')
    const actionsOf = (frames: ReadonlyArray<{ type: string; body: { data?: { action?: string } } }>) =>
      frames.flatMap(({ type, body }) => (type === 'message' ? (body.data?.action ?? []) : []))
    expect(actionsOf(alice.frames)).toEqual(['edited', 'deleted'])
    expect(actionsOf(bob.frames)).toEqual([])
    const listOf = async (as: string, peer: string) => dataOf(await world.get(`/users/${peer}/messages`, { as }))
    expect(idsOf(await listOf('alice', 'bob'))).toContain(held.id)
    expect(idsOf(await listOf('alice', 'bob'))).not.toContain(deleted.id)
    expect((await listOf('bob', 'alice')).map((message: { data: { text: string } }) => message.data.text)).toEqual([
      'hello',
      'after',
    ])
    const told = (await puller.since()).filter(ofChat).map(({ data }) => data)
    expect(JSON.stringify(told)).toContain('"after"')
    expect(JSON.stringify(told)).not.toContain(`"${held.id}"`)
  })

  it('can do nothing else with it, and neither can anybody, the app included', async () => {
    const world = await judgedWorld()
    await say(world, 'bob', 'alice', 'hello')
    const seen = await say(world, 'alice', 'bob', 'hi')
    const held = await say(world, 'alice', 'bob', 'bad')
    await block(world, seen.id)
    for (const { id } of [held, seen]) {
      expect(await deedsOn(world, id, 'alice', 'bob')).toEqual([])
      expect(await deedsOn(world, id, 'bob', 'alice')).toEqual([])
      expect(await deedsOn(world, id, undefined, 'bob')).toEqual([])
      for (const options of [{}, { as: 'bob' }]) {
        expect(refusal(await world.put(`/messages/${id}`, { tags: ['a'] }, options))).toBe(unknown)
        expect(refusal(await world.delete(`/messages/${id}`, {}, options))).toBe(unknown)
        expect(refusal(await world.get(`/messages/${id}/thread`, options))).toBe(unknown)
        expect(refusal(await world.get(`/messages/${id}/reactions`, options))).toBe(unknown)
      }
      // The app, which decides about it, is told that it is held, and no more.
      expect(dataOf(await world.get(`/notifications/v1/explain?uid=bob&messageId=${id}`))).toEqual({
        ...{ uid: 'bob', notifications: [], unplanned: 'HELD' },
      })
      expect(dataOf(await world.get(`/messages/${id}/thread`, { as: 'alice' }))).toEqual([])
    }
  })

  it('is not told that it was received, however far others have read', async () => {
    const world = await judgedTeam()
    const seen = await sayInGroup(world, 'alice', 'team', 'hi')
    const held = await sayInGroup(world, 'alice', 'team', 'bad')
    await sayInGroup(world, 'bob', 'team', 'answer')
    await block(world, seen.id)
    for (const { id } of [held, seen]) {
      const byId = dataOf(await world.get(`/messages/${id}`, { as: 'alice' }))
      const page = dataOf(await world.get('/groups/team/messages', { as: 'alice' }))
      const inList = page.find((message: { id: string }) => message.id === id)
      for (const message of [byId, inList]) {
        for (const member of ['readAt', 'deliveredAt', 'receipts']) expect(message).not.toHaveProperty(member)
      }
    }
  })
})

describe('The app', () => {
  it('finds what is held by its id, and in no list, count, search or event', async () => {
    const world = await judgedTeam()
    const puller = await pullEvents(world)
    const seen = await sayInGroup(world, 'alice', 'team', 'hi words')
    const held = [
      await say(world, 'alice', 'bob', 'bad words'),
      await sayInGroup(world, 'alice', 'team', 'bad words'),
      await sayInGroup(world, 'alice', 'team', 'bad words'),
    ]
    const ids = idsOf(held)
    await block(world, seen.id)
    for (const id of [...ids, seen.id]) expect(dataOf(await world.get(`/messages/${id}`)).id).toBe(id)
    const lists = ['/messages', '/users/alice/messages', '/users/bob/messages', '/groups/team/messages']
    const queries = ['', '?count=1', '?searchKey=words', '?sender=alice', '?updatedAt=1', '?conversationId=group_team']
    for (const list of lists) {
      for (const query of queries)
        expect([list, query, dataOf(await world.get(`${list}${query}`))]).toEqual([list, query, []])
    }
    const last = await sayInGroup(world, 'bob', 'team', 'last')
    const events = await puller.since()
    expect(JSON.stringify(events)).toContain(`"${last.id}"`)
    const ofSeen = events.filter(({ trigger }) => trigger === 'message_sent').map(({ data }) => data)
    expect(JSON.stringify(ofSeen)).not.toContain('words')
    for (const id of ids) expect(JSON.stringify(ofSeen)).not.toContain(`"${id}"`)
  })

  it('imports no reply to it', async () => {
    const world = await judgedTeam()
    await sayInGroup(world, 'alice', 'team', 'bad', { muid: 'held-1' })
    const { reply } = await importAll(world, 'messages', [
      groupText('reply', 'bob', 'team', 1_700_000_000, { parentMuid: 'held-1' }),
    ])
    expect(reply.error.code).toBe('ERR_WRONG_MESSAGE_THREAD')
  })
})

describe('A thread', () => {
  it('does not count what is held in it, and counts what comes after it once', async () => {
    const world = await judgedTeam()
    const { id } = await sayInGroup(world, 'bob', 'team', 'parent')
    const held = await sayInGroup(world, 'alice', 'team', 'bad', { parentId: id })
    expect(dataOf(await world.get('/threads', { as: 'alice' }))).toEqual([])
    expect(texts(await world.get(`/messages/${id}/thread`, { as: 'alice' }))).toEqual(['bad'])
    expect(texts(await world.get(`/messages/${id}/thread`, { as: 'bob' }))).toEqual([])
    expect(texts(await world.get(`/messages/${id}/thread`))).toEqual([])
    const reply = await sayInGroup(world, 'bob', 'team', 'reply', { parentId: id })
    for (const as of ['alice', 'bob']) {
      const [thread] = dataOf(await world.get('/threads', { as }))
      expect(thread).toMatchObject({ id, replyCount: 1, lastReply: { id: reply.id } })
      expect(thread.participatedByMe).toBe(as === 'bob')
      expect(dataOf(await world.get(`/messages/${id}`, { as })).replyCount).toBe(1)
    }
    await block(world, reply.id)
    expect(dataOf(await world.get('/threads', { as: 'alice' }))).toEqual([])
    expect(await releaseMessage(world.context, world.app, Number(held.id), reviewer)).toMatchObject({ released: true })
    const [thread] = dataOf(await world.get('/threads', { as: 'bob' }))
    expect(thread).toMatchObject({ id, replyCount: 1, lastReply: { id: held.id } })
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('of what is blocked is there for its starter alone, and comes back with it', async () => {
    const world = await judgedTeam()
    const { id } = await sayInGroup(world, 'alice', 'team', 'parent')
    const reply = await sayInGroup(world, 'bob', 'team', 'reply', { parentId: id })
    const threads = async (as?: string) => {
      const options = as === undefined ? {} : { as }
      const [all, ofTeam] = [await world.get('/threads', options), await world.get('/groups/team/threads', options)]
      expect(idsOf(dataOf(ofTeam))).toEqual(idsOf(dataOf(all)))
      return idsOf(dataOf(all))
    }
    const seenBy = async () => [await threads('alice'), await threads('bob'), await threads()]
    expect(await seenBy()).toEqual([[id], [id], [id]])
    await block(world, id)
    expect(await seenBy()).toEqual([[id], [], []])
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
    // What others wrote there is theirs.
    expect(idsOf(dataOf(await world.get('/groups/team/messages', { as: 'bob' })))).toEqual([reply.id])
    dataOf(await world.delete(`/messages/${reply.id}`, {}, { as: 'bob' }))
    expect(await seenBy()).toEqual([[], [], []])
    expect(await restoreMessage(world.context, world.app, Number(id), reviewer)).toEqual({ restored: true })
    await sayInGroup(world, 'bob', 'team', 'again', { parentId: id })
    expect(await seenBy()).toEqual([[id], [id], [id]])
  })

  it('goes for good with a message although somebody else has something held in it, of which nobody hears', async () => {
    const world = await judgedWorld()
    const puller = await pullEvents(world)
    const { id } = await say(world, 'bob', 'alice', 'parent')
    const held = await say(world, 'alice', 'bob', 'bad', { parentId: id })
    dataOf(await world.delete(`/messages/${id}`, { permanent: true }, { as: 'bob' }))
    expect(refusal(await world.get(`/messages/${id}`, { as: 'bob' }))).toBe(unknown)
    expect(refusal(await world.get(`/messages/${held.id}`, { as: 'alice' }))).toBe(unknown)
    const events = (await puller.since()).filter(ofChat)
    expect(events.map(({ trigger }) => trigger)).toContain('message_deleted')
    expect(JSON.stringify(events.map(({ data }) => data))).not.toContain(`"${held.id}"`)
  })
})

describe('What is held', () => {
  it('goes over no socket but those of its sender, whoever tells of it', async () => {
    const world = await judgedTeam()
    const [key] = await world.context.database.run(
      sql<{
        conversation: number
      }>`select conversation from groups where app_id = ${world.app.appId} and guid = 'team'`,
    )
    const { id } = await sayInGroup(world, 'alice', 'team', 'bad')
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    const place = { conversation: key?.conversation ?? 0, kind: 'group', first: 'team', second: '' } as const
    const { appId } = world.app
    const message = dataOf(await world.get(`/messages/${id}`))
    world.context.events.publish(appId, { trigger: 'message_sent', place, messageId: Number(id) })
    world.context.events.publish(appId, { trigger: 'message_sent', place, messageId: Number(id), message })
    await sayInGroup(world, 'bob', 'team', 'after')
    const wordsTo = async (client: typeof alice) => {
      await client.takeText('after')
      return client.frames.filter(({ type }) => type === 'message').map(({ body }) => body.data.text)
    }
    expect(await wordsTo(alice)).toEqual(['bad', 'bad'])
    expect(await wordsTo(bob)).toEqual([])
  })
})

describe('The id of what is held, as a cursor', () => {
  /** What a page is that goes on from an id, in each way in which one does: the whole answer without the id itself. */
  async function pagesFrom(world: World, as: string, id: string, sentAt: number): Promise<string[]> {
    const places = [`id=${id}`, `id=${id}&sentAt=${sentAt}`, `id=${id}&sentAt=1`, `id=${id}&updatedAt=1`]
    const queries = places.flatMap((place) => ['', '&affix=prepend', '&category=message'].map((more) => place + more))
    return Promise.all(
      queries.map(async (query) => {
        const { status, body } = await world.get(`/groups/team/messages?${query}`, { as })
        const ids = body.data?.map((message: { id: string }) => message.id)
        return `${query.replace(id, 'X')} ${status} ${ids ?? body.error.devMessage.replace(id, 'X')}`
      }),
    )
  }

  it('is that of no message for who cannot have seen it, and works for whoever could', async () => {
    const world = await judgedTeam()
    const first = await sayInGroup(world, 'alice', 'team', 'first')
    const held = await sayInGroup(world, 'alice', 'team', 'bad')
    // To bob, an id that is none, next to it.
    await createUsers(world, 'carol')
    const { id: ofNone } = await say(world, 'alice', 'carol', 'elsewhere')
    const seen = await sayInGroup(world, 'alice', 'team', 'seen')
    const last = await sayInGroup(world, 'alice', 'team', 'last')
    await block(world, seen.id)
    const onFrom = async (as: string, id: string) => {
      const answer = await world.get(`/groups/team/messages?id=${id}`, { as })
      return answer.status === 200 ? idsOf(answer.body.data) : refusal(answer)
    }
    expect(await onFrom('bob', ofNone)).toBe(unknown)
    expect(await pagesFrom(world, 'bob', held.id, held.sentAt)).toEqual(
      await pagesFrom(world, 'bob', ofNone, held.sentAt),
    )
    expect(await onFrom('bob', seen.id)).toEqual([last.id])
    expect(await onFrom('alice', held.id)).toEqual([seen.id, last.id])
    expect(await onFrom('bob', first.id)).toEqual([last.id])
    // Whoever has approved it has shown it, and blocking it then takes it from those who may have gone on from it.
    expect(await releaseMessage(world.context, world.app, Number(held.id), reviewer)).toMatchObject({ released: true })
    await block(world, held.id)
    expect(await onFrom('bob', held.id)).toEqual([])
    // What goes for good goes for all alike.
    for (const { id } of [held, seen])
      dataOf(await world.delete(`/messages/${id}`, { permanent: true }, { as: 'alice' }))
    for (const as of ['alice', 'bob']) expect(await onFrom(as, seen.id)).toEqual([last.id])
  })
})

describe('What moderation takes while somebody is at it', () => {
  /** Somebody begins while the message is still there, and waits for the conversation, in which it is taken first. */
  async function takenBefore(world: World, id: string, deed: () => Promise<Answer>): Promise<Answer> {
    const { database } = world.context
    const { appId } = world.app
    let answer: Promise<Answer> | undefined
    await database.transaction(async (tx) => {
      const [row] = await tx.run(sql<{ conversation: number; pid: number }>`
        select m.conversation, pg_backend_pid() as pid
        from messages m
        where m.app_id = ${appId}
        and m.id = ${id}`)
      await lockConversation(tx, appId, row?.conversation ?? 0)
      answer = deed()
      const waits = sql<object>`select from pg_stat_activity where ${row?.pid} = any(pg_blocking_pids(pid))`
      await until(async () => (await database.run(waits)).length > 0)
      await tx.run(sql`
        update messages
        set traits = traits | ${traits.disapproved}::int, countable = false
        where app_id = ${appId}
        and id = ${id}`)
    })
    return answer as Promise<Answer>
  }

  const body = { receiver: 'bob', receiverType: 'user', data: { text: 'about it' } }
  const deeds: Readonly<Record<string, Deed>> = {
    'a reaction': (world, id) => world.post(`/messages/${id}/reactions/ok`, undefined, { as: 'bob' }),
    'a pin': (world, id) => world.post(`/messages/${id}/pin`, undefined, { as: 'bob' }),
    'a save': (world, id) => world.post(`/messages/${id}/save`, undefined, { as: 'bob' }),
    'a reply': (world, id) => world.post('/messages', { ...body, receiver: 'alice', parentId: id }, { as: 'bob' }),
    'an edit of the app': (world, id) => world.put(`/messages/${id}`, { tags: ['a'] }),
    'a deletion of the app': (world, id) => world.delete(`/messages/${id}`, {}),
  }
  it.each(Object.entries(deeds))('is not there any more for %s that comes after', async (_, deed) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    expect(refusal(await takenBefore(world, id, () => deed(world, id)))).toBe(unknown)
  })

  it('has a pin, a save, reactions and replies that came before, for nobody', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    for (const name of ['a reaction', 'a pin', 'a save', 'a reply'] as const)
      dataOf(await (deeds[name] as Deed)(world, id))
    await block(world, id)
    for (const options of [{ as: 'bob' }, {}]) {
      expect(dataOf(await world.get('/messages?pinned=1', options))).toEqual([])
      expect(dataOf(await world.get('/messages?hasReactions=1', options))).toEqual([])
      expect(dataOf(await world.get('/threads', options))).toEqual([])
    }
    expect(dataOf(await world.get('/messages?saved=1', { as: 'bob' }))).toEqual([])
  })
})
