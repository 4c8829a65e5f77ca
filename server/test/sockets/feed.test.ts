import { describe, expect, it } from 'vitest'
import { blockMessage, restoreMessage } from '../../src/areas/messages/index.ts'
import { statement } from '../../src/store/statement.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { addRules } from '../support/held.ts'
import { connect, type Frame } from '../support/socket.ts'
import { soon, until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** What tells frames apart, whatever they show of users and groups, which changes with time. */
function essence({ type, sender, receiver, receiverType, messageSender, body }: Frame) {
  const message = body.message ?? body
  const on = message.data?.entities?.on?.entity
  return {
    ...{ type, sender, receiver, receiverType, messageSender },
    action: body.action ?? message.data?.action,
    id: message.id ?? message.messageId,
    ...{ reaction: body.reaction, text: message.data?.text, interactions: body.interactions },
    ...{ timestamp: body.timestamp, on: on?.id ?? on?.uid },
  }
}

/** Reads the feed of a user from where it was asked for last. */
class Follower {
  private readonly world: World
  private readonly uid: string
  after: string | undefined

  constructor(world: World, uid: string) {
    this.world = world
    this.uid = uid
  }

  async page(limit = 100): Promise<{ data: { id: string; frame: Frame }[]; meta: Frame }> {
    const query = this.after === undefined ? '' : `after=${this.after}&`
    const answer = await this.world.get(`/me/events?${query}limit=${limit}`, { as: this.uid })
    dataOf(answer)
    this.after = answer.body.meta.after
    return answer.body
  }

  async frames(limit?: number): Promise<Frame[]> {
    const frames = []
    for (;;) {
      const { data, meta } = await this.page(limit)
      frames.push(...data.map(({ frame }) => frame))
      if (!meta.more) return frames
    }
  }
}

async function follow(world: World, uid: string): Promise<Follower> {
  const follower = new Follower(world, uid)
  expect(await follower.page()).toEqual({
    data: [],
    meta: { after: expect.stringMatching(/^\d+$/), more: false },
  })
  return follower
}

async function createTalk() {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol', 'dave')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  return world
}

describe('what a user missed', () => {
  it('is what their sockets were sent, in that order', async () => {
    const world = await createTalk()
    const { id } = await say(world, 'alice', 'bob', 'before')
    const inTeam = await sayInGroup(world, 'bob', 'team', 'of bob')
    const bob = await follow(world, 'bob')
    const socket = await connect(world, 'bob')
    const as = { as: 'alice' }
    await say(world, 'alice', 'bob', 'hello')
    const sent = await sayInGroup(world, 'carol', 'team', 'to all')
    dataOf(await world.post(`/messages/${sent.id}/reactions/👍`, {}, as))
    dataOf(await world.delete(`/messages/${sent.id}/reactions/👍`, {}, as))
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'changed' } }, as))
    dataOf(await world.post(`/messages/${id}/pin`, {}, as))
    dataOf(await world.delete(`/messages/${id}/pin`, {}, as))
    dataOf(await world.post(`/messages/${sent.id}/save`, {}, { as: 'bob' }))
    dataOf(await world.delete(`/messages/${sent.id}/save`, {}, { as: 'bob' }))
    dataOf(await world.post('/users/bob/conversation/delivered', {}, as))
    dataOf(await world.post('/users/bob/conversation/read', {}, as))
    dataOf(await world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    // A receipt in a group is for who wrote the message.
    dataOf(await world.post('/groups/team/conversation/read', { messageId: inTeam.id }, as))
    dataOf(await world.post('/groups/team/conversation/read', {}, { as: 'carol' }))
    dataOf(await world.put('/groups/team/members', { participants: ['dave'] }))
    dataOf(await world.put('/groups/team/members/dave', { scope: 'moderator' }))
    dataOf(await world.delete(`/messages/${id}`, {}, as))
    const last = await say(world, 'alice', 'bob', 'last')
    await socket.takeText('last')
    const heard = [
      ...socket.frames,
      { type: 'message', body: last, sender: 'alice', receiver: 'bob', receiverType: 'user' },
    ]
    const missed = await soon(async () => {
      const follower = new Follower(world, 'bob')
      follower.after = bob.after
      const frames = await follower.frames()
      expect(frames.at(-1)?.body.data.text).toBe('last')
      return frames
    })
    // Those of different conversations are sent one beside the other.
    const sorted = (frames: Frame[]) => frames.map((frame) => JSON.stringify(essence(frame))).sort()
    // What was changed later is shown as it is now.
    const now = (frames: Frame[]) =>
      frames.map((frame) => {
        const isOfIt = frame.type === 'message_pin' || (frame.type === 'message' && frame.body.id === id)
        return isOfIt ? { ...frame, body: { id, action: frame.body.action } } : frame
      })
    expect(sorted(now(missed))).toEqual(sorted(now(heard)))
    expect(missed.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['message', 'reaction', 'receipts', 'message_pin', 'message_save']),
    )
    socket.close()
  })

  it('comes in pages, without a gap or a repeat, while others write', async () => {
    const world = await createTalk()
    const bob = await follow(world, 'bob')
    const texts = Array.from({ length: 30 }, (_, n) => `text ${n}`)
    const writers = texts.map((text, n) =>
      n % 2 === 0 ? say(world, 'alice', 'bob', text) : sayInGroup(world, 'carol', 'team', text),
    )
    const seen: string[] = []
    const take = async () => seen.push(...(await bob.frames(3)).map(({ body }) => body.data.text))
    await take()
    await Promise.all(writers)
    await take()
    expect(seen.toSorted()).toEqual(texts.toSorted())
    await say(world, 'alice', 'carol', 'not for bob')
    expect(await bob.frames()).toEqual([])
  })

  it('goes on after the last frame that they had, whatever page that was in', async () => {
    const world = await createTalk()
    const bob = await follow(world, 'bob')
    for (const text of ['a', 'b', 'c']) await say(world, 'alice', 'bob', text)
    const start = bob.after
    // A page ends before what is still being written, which takes a while on a busy machine.
    const ids = await until(async () => {
      bob.after = start
      const { data } = await bob.page()
      return data.length === 3 && data.map(({ id }) => id)
    })
    bob.after = ids[1]
    expect((await bob.frames()).map(({ body }) => body.data.text)).toEqual(['c'])
  })

  it('tells as the last thing of a group that they were removed, or left, and nothing after it', async () => {
    const world = await createTalk()
    const followers = {
      bob: await follow(world, 'bob'),
      carol: await follow(world, 'carol'),
      dave: await follow(world, 'dave'),
    }
    dataOf(await world.put('/groups/team/members', { participants: ['dave'] }))
    await sayInGroup(world, 'alice', 'team', 'secret by then')
    dataOf(await world.delete('/groups/team/members/bob', {}, { as: 'alice' }))
    dataOf(await world.post('/groups/team/bannedusers/carol', {}, { as: 'alice' }))
    dataOf(await world.delete('/groups/team/members', {}, { as: 'dave' }))
    await sayInGroup(world, 'alice', 'team', 'after')
    for (const [uid, action] of [
      ['bob', 'kicked'],
      ['carol', 'banned'],
      ['dave', 'left'],
    ] as const) {
      const frames = await followers[uid].frames()
      expect(frames.map(({ body }) => body.data.action)).toEqual([action])
      expect(JSON.stringify(frames)).not.toContain('secret')
    }
  })

  it('tells them of it where a list banned them, which leaves no action message', async () => {
    const world = await createTalk()
    const bob = await follow(world, 'bob')
    const socket = await connect(world, 'bob')
    dataOf(await world.put('/groups/team/members', { usersToBan: ['bob'] }, { as: 'alice' }))
    await sayInGroup(world, 'alice', 'team', 'after')
    const heard = await socket.takeType('message')
    expect((await bob.frames()).map(essence)).toEqual([essence(heard)])
    socket.close()
  })

  it('says of a message that was removed for good that it is gone, and no more', async () => {
    const world = await createTalk()
    const { id } = await say(world, 'alice', 'bob', 'very secret')
    const bob = await follow(world, 'bob')
    dataOf(await world.post(`/messages/${id}/reactions/👍`, {}, { as: 'alice' }))
    dataOf(await world.delete(`/messages/${id}`, { permanent: true }))
    const frames = await bob.frames()
    expect(JSON.stringify(frames)).not.toContain('secret')
    const deleted = frames.filter(({ body }) => body.data?.action === 'deleted')
    expect(deleted.map(({ body }) => body.data.entities.on.entity.id)).toEqual([id])
  })
})

describe('a message that others had seen and that moderation took', () => {
  const block = (world: World, id: string) =>
    blockMessage(world.context, world.app, Number(id), { by: { reviewer: 'rita' } })

  it('is deleted for them, and not for its sender, who still has it', async () => {
    const world = await createTalk()
    const [inTeam, toBob] = [await sayInGroup(world, 'alice', 'team', 'hi'), await say(world, 'alice', 'bob', 'hi')]
    const [alice, bob] = [await follow(world, 'alice'), await follow(world, 'bob')]
    for (const { id } of [inTeam, toBob]) await block(world, id)
    expect((await alice.frames()).filter(({ body }) => body.data.action === 'deleted')).toEqual([])
    expect((await bob.frames()).map(essence)).toEqual([
      expect.objectContaining({ sender: 'alice', receiver: 'team', action: 'deleted', on: inTeam.id }),
      expect.objectContaining({ sender: 'alice', receiver: 'bob', action: 'deleted', on: toBob.id }),
    ])
  })

  it('and that is then removed for good is gone from the conversation that it was in', async () => {
    const world = await createTalk()
    const [inTeam, toBob] = [await sayInGroup(world, 'alice', 'team', 'hi'), await say(world, 'alice', 'bob', 'hi')]
    const bob = await follow(world, 'bob')
    for (const { id } of [inTeam, toBob]) {
      await block(world, id)
      dataOf(await world.delete(`/messages/${id}`, { permanent: true }, { as: 'alice' }))
    }
    const frames = await bob.frames()
    // Who wrote it is forgotten with it; one to one it is the other of the two, by whom clients know the conversation.
    const expected = [
      [inTeam.id, { sender: 'app_system', receiver: 'team' }],
      [toBob.id, { sender: 'alice', receiver: 'bob' }],
    ] as const
    for (const [id, sides] of expected) {
      const [deleted] = frames.filter(({ body }) => body.data?.entities.on.entity.id === id)
      expect(deleted).toMatchObject({ ...sides, body: { ...sides, data: { action: 'deleted' } } })
    }
  })

  it('is told of as a whole action message, as over the socket', async () => {
    const world = await createTalk()
    const { id } = await sayInGroup(world, 'alice', 'team', 'hi')
    const bob = await follow(world, 'bob')
    const socket = await connect(world, 'bob')
    await block(world, id)
    const heard = await socket.takeType('message')
    const [{ body, ...head }] = (await bob.frames()) as [Frame]
    const { body: live, ...liveHead } = heard
    expect(head).toEqual(liveHead)
    const { data, ...rest } = live
    expect(body).toMatchObject({ ...rest, sentAt: expect.any(Number), updatedAt: expect.any(Number) })
    socket.close()
  })

  it('is deleted for nobody once it is given back', async () => {
    const world = await createTalk()
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const [alice, bob] = [await follow(world, 'alice'), await follow(world, 'bob')]
    await block(world, id)
    await restoreMessage(world.context, world.app, Number(id), { by: { reviewer: 'rita' } })
    for (const follower of [alice, bob]) {
      expect((await follower.frames()).filter(({ body }) => body.data?.action === 'deleted')).toEqual([])
    }
  })
})

describe('what a user may not see', () => {
  it('is in no page of theirs: history before joining, hidden types, reactions of others, resets', async () => {
    const world = await createTalk()
    const old = await sayInGroup(world, 'alice', 'team', 'old')
    dataOf(
      await world.put('/groups/team/scopes/participant/permissions', {
        permissions: { 'listMessages.historyBeforeJoin': 'deny', listReactions: 'deny' },
      }),
    )
    dataOf(await world.put('/groups/team/members', { participants: ['dave'] }))
    const [bob, dave] = [await follow(world, 'bob'), await follow(world, 'dave')]
    const hers = await say(world, 'alice', 'bob', 'to be reset')
    dataOf(await world.put(`/messages/${old.id}`, { data: { text: 'old, changed' } }, { as: 'alice' }))
    const sent = await sayInGroup(world, 'alice', 'team', 'new')
    dataOf(await world.post(`/messages/${sent.id}/reactions/👍`, {}, { as: 'alice' }))
    dataOf(await world.delete('/users/alice/conversation', {}, { as: 'bob' }))
    expect((await dave.frames()).map(({ body }) => body.data?.text ?? body.type)).toEqual(['new'])
    expect(JSON.stringify(await bob.frames())).not.toContain(hers.data.text)
  })

  it('is what moderation holds, but for its sender, who is told what is decided', async () => {
    const world = await createTalk()
    const end = addRules(world)
    const [alice, bob] = [await follow(world, 'alice'), await follow(world, 'bob')]
    const held = await say(world, 'alice', 'bob', 'a bad word')
    expect(held.data.moderation.status).toBe('disapproved')
    expect(await bob.frames()).toEqual([])
    await alice.frames()
    const decision = { status: 'approved', reviewed: true }
    dataOf(await world.call('PATCH', `/moderation/blocked-messages/${held.id}`, decision))
    await soon(async () => {
      const follower = new Follower(world, 'alice')
      follower.after = alice.after
      expect((await follower.frames()).map(({ type }) => type)).toContain('on_moderation_status_changed')
    })
    expect((await bob.frames()).map(({ body }) => body.data.text)).toEqual(['a bad word'])
    end()
  })

  it('is how far others have come in a group that they were removed from', async () => {
    const world = await createTalk()
    const form = { interactiveData: { formFields: [{ elementId: 'a' }] }, interactionGoal: { type: 'anyAction' } }
    const message = { receiver: 'team', receiverType: 'group', category: 'interactive', type: 'form', data: form }
    const { id } = dataOf(await world.post('/messages', message, { as: 'bob' }))
    const bob = await follow(world, 'bob')
    dataOf(await world.delete('/groups/team/members/bob', {}, { as: 'alice' }))
    for (const as of ['alice', 'carol']) {
      dataOf(await world.call('PATCH', `/messages/${id}/interacted`, { interactions: ['a'] }, { as }))
      dataOf(await world.post('/groups/team/conversation/delivered', {}, { as }))
      dataOf(await world.post('/groups/team/conversation/read', {}, { as }))
    }
    expect((await bob.frames()).map(({ type, body }) => `${type} ${body.data?.action}`)).toEqual(['message kicked'])
  })

  it('is what those do who stand in a block with them', async () => {
    const world = await createTalk()
    const sent = await say(world, 'alice', 'bob', 'hi')
    const inTeam = await sayInGroup(world, 'bob', 'team', 'of bob')
    const bob = await follow(world, 'bob')
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    dataOf(await world.post(`/messages/${sent.id}/pin`, {}))
    dataOf(await world.post('/groups/team/conversation/read', { messageId: inTeam.id }, { as: 'alice' }))
    expect((await bob.frames()).map(({ type, sender }) => `${type} of ${sender}`)).toEqual([
      'message_pin of app_system',
    ])
  })

  it('is what another app does', async () => {
    const [world, other] = [await createTalk(), await createTalk()]
    const bob = await follow(world, 'bob')
    await follow(other, 'bob')
    await say(other, 'alice', 'bob', 'elsewhere')
    expect(await bob.frames()).toEqual([])
  })
})

describe('a place in the feed', () => {
  it('from which events are gone leads to a reload, and one that was never given out is refused', async () => {
    const world = await createTalk()
    const bob = await follow(world, 'bob')
    const { after } = bob
    await say(world, 'alice', 'bob', 'gone soon')
    await bob.frames()
    const forget = statement('update apps set events_gone_until = $2 where app_id = $1')
    await world.context.database.query(forget, [world.app.appId, Number(bob.after)])
    const answer = await world.get(`/me/events?after=${after}`, { as: 'bob' })
    expect(answer.body).toEqual({ data: [], meta: { after: expect.any(String), more: false, reload: true } })
    for (const wrong of ['9'.repeat(15), '-1', 'x']) {
      expect(refusal(await world.get(`/me/events?after=${wrong}`, { as: 'bob' }))).toBe('400 ERR_BAD_REQUEST')
    }
    expect(refusal(await world.get('/me/events'))).toBe('400 ERR_BAD_REQUEST')
    for (const limit of ['0', '501', 'x']) {
      expect(refusal(await world.get(`/me/events?limit=${limit}`, { as: 'bob' }))).toBe('400 ERR_BAD_REQUEST')
    }
  })

  it('before anybody followed leads to a reload: nothing was kept', async () => {
    const world = await createTalk()
    await say(world, 'alice', 'bob', 'not kept')
    expect((await world.get('/me/events?after=0', { as: 'bob' })).body.meta.reload).toBe(true)
  })

  it('keeps nothing for webhooks and those who pull that is no event of theirs', async () => {
    const world = await createTalk()
    const started = await world.get('/events')
    await follow(world, 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    dataOf(await world.post(`/messages/${id}/pin`, {}, { as: 'alice' }))
    await say(world, 'alice', 'bob', 'ho')
    await soon(async () => {
      const { body } = await world.get(`/events?after=${started.body.meta.cursor}`)
      expect(body.data.map(({ trigger }: Frame) => trigger)).toEqual(['message_sent', 'message_sent'])
    })
  })
})
