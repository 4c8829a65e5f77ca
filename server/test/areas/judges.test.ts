import { ApiError } from '@parley/contract'
import { afterEach, describe, expect, it } from 'vitest'
import { type Draft, type Judge, pass, type Verdict } from '../../src/chat/writing/judges.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { outcomeOf } from '../support/role-world.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const added: Array<() => void> = []
afterEach(() => {
  for (const remove of added.splice(0)) remove()
})

/** Adds a judge of the messages of one app. @returns the texts that it was asked about */
function addJudge(world: World, judge: (draft: Draft) => Verdict | Promise<Verdict>): string[] {
  const asked: string[] = []
  const judges = world.context.judges as Judge[]
  const entry: Judge = {
    concerns: async (appId) => appId === world.app.appId,
    judge: async (draft) => {
      asked.push(String(draft.content.data.text))
      return judge(draft)
    },
  }
  judges.push(entry)
  added.push(() => judges.splice(judges.indexOf(entry), 1))
  return asked
}

/** A judge that holds what says `held` until it is let go, and has nothing against anything. */
function addHolding(world: World) {
  let letGo = () => {}
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let noteAsked = () => {}
  const isAsked = new Promise<void>((resolve) => {
    noteAsked = resolve
  })
  const asked = addJudge(world, async ({ content }) => {
    if (content.data.text === 'held') {
      noteAsked()
      await gate
    }
    return pass
  })
  return { asked, isAsked, letGo: () => letGo() }
}

const chatWorld = async (): Promise<World> => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  return world
}
const toBob = (text: string) => ({ receiver: 'bob', receiverType: 'user', data: { text } })
const alice = { as: 'alice' }

describe('Judges', () => {
  it('are asked one after the other, each about what the ones before left', async () => {
    const world = await chatWorld()
    addJudge(world, ({ content }) => ({ is: 'changed', data: { ...content.data, text: `${content.data.text}!` } }))
    const second = addJudge(world, ({ content }) => ({ is: 'changed', data: { ...content.data, seen: true } }))
    const sent = await say(world, 'alice', 'bob', 'hi')
    expect(second).toEqual(['hi!'])
    expect(sent.data).toMatchObject({ text: 'hi!', seen: true })
    dataOf(await world.put(`/messages/${sent.id}`, { data: { text: 'bye' } }, alice))
    expect(second).toEqual(['hi!', 'bye!'])
    expect(dataOf(await world.get(`/messages/${sent.id}`)).data).toMatchObject({ text: 'bye!', seen: true })
  })

  it('refuse with a code of theirs; the next is not asked then', async () => {
    const world = await chatWorld()
    const sent = await say(world, 'alice', 'bob', 'hi')
    const error = new ApiError('ERR_BLOCKED_BY_WEBHOOK', 'No.')
    addJudge(world, () => ({ is: 'refused', error }))
    const second = addJudge(world, () => pass)
    expect(refusal(await world.post('/messages', toBob('x'), alice))).toBe('403 ERR_BLOCKED_BY_WEBHOOK')
    expect(refusal(await world.put(`/messages/${sent.id}`, { data: { text: 'x' } }, alice))).toBe(
      '403 ERR_BLOCKED_BY_WEBHOOK',
    )
    expect(second).toEqual([])
    expect(texts(await world.get('/users/bob/messages', alice))).toEqual(['hi'])
  })

  it('get to know who sends or edits what, where', async () => {
    const world = await chatWorld()
    await createGroup(world, 'team', 'alice')
    const drafts: Draft[] = []
    addJudge(world, (draft) => {
      drafts.push(draft)
      return pass
    })
    const { id } = await sayInGroup(world, 'alice', 'team', 'hi', { muid: 'm', tags: ['t'] })
    const reply = await sayInGroup(world, 'alice', 'team', 're', { parentId: id, quotedMessageId: id })
    dataOf(await world.put(`/messages/${reply.id}`, { data: { metadata: { a: 1 } }, tags: ['u'] }))
    const inTeam = { sender: 'alice', kind: 'group', receiver: 'team' }
    expect(drafts).toMatchObject([
      { ...inTeam, muid: 'm', tags: ['t'], parentId: null, quotedId: null, edits: null, byApp: false },
      { ...inTeam, muid: null, tags: null, parentId: Number(id), quotedId: Number(id), edits: null },
      {
        ...inTeam,
        muid: null,
        tags: ['u'],
        parentId: Number(id),
        quotedId: Number(id),
        edits: Number(reply.id),
        byApp: true,
      },
    ])
    expect(drafts[2]?.content.data).toMatchObject({ text: 're', metadata: { a: 1 } })
  })

  it('are not asked again about what is stored already', async () => {
    const world = await chatWorld()
    const texts: unknown[] = []
    const error = new ApiError('ERR_BLOCKED_BY_WEBHOOK', 'It has been said.')
    const asked = addJudge(world, ({ content: { data } }) => {
      if (texts.includes(data.text)) return { is: 'refused', error }
      texts.push(data.text)
      return pass
    })
    const first = await say(world, 'alice', 'bob', 'hi', { muid: 'm' })
    expect((await say(world, 'alice', 'bob', 'hi', { muid: 'm' })).id).toBe(first.id)
    expect(asked).toEqual(['hi'])
    const other = await world.post('/messages', { ...toBob('hi'), muid: 'other' }, alice)
    expect(refusal(other)).toBe('403 ERR_BLOCKED_BY_WEBHOOK')
  })

  it('are not asked about what the rules refuse', async () => {
    const world = await chatWorld()
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const asked = addJudge(world, () => pass)
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(refusal(await world.post('/messages', toBob('x'), alice))).toBe('403 ERR_BLOCKED_SENDER')
    expect(refusal(await world.put(`/messages/${id}`, { data: { text: 'x' } }, alice))).toBe('403 ERR_BLOCKED_SENDER')
    expect(refusal(await world.put(`/messages/${id}`, { data: { text: '' } }, alice))).toBe(
      '400 ERR_EMPTY_MESSAGE_TEXT',
    )
    expect(asked).toEqual([])
  })
})

describe('While a judge takes its time', () => {
  it('nobody waits but those whom it judges: nothing is locked, no place is taken', async () => {
    const [world, other] = [await chatWorld(), await chatWorld()]
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'first')
    const { isAsked, letGo } = addHolding(world)
    let isAnswered = false
    const note = <T>(answer: T): T => {
      isAnswered = true
      return answer
    }
    const held = ['team', 'team', 'team'].map((receiver) =>
      world.post('/messages', { receiver, receiverType: 'group', data: { text: 'held' } }, alice).then(note),
    )
    const edit = world.put(`/messages/${id}`, { data: { text: 'held' } }, alice).then(note)
    await isAsked
    // More than two batches hold, in the very conversation; and everything else that takes its lock.
    await Promise.all(Array.from({ length: 300 }, (_, i) => sayInGroup(world, 'bob', 'team', `text ${i}`)))
    await Promise.all(Array.from({ length: 50 }, (_, i) => say(other, 'alice', 'bob', `text ${i}`)))
    dataOf(await world.post(`/messages/${id}/reactions/x`, undefined, { as: 'bob' }))
    dataOf(await world.post('/groups/team/conversation/read', {}, { as: 'bob' }))
    dataOf(await world.delete('/groups/team/members/bob', undefined, alice))
    expect(isAnswered).toBe(false)
    letGo()
    for (const answer of await Promise.all([...held, edit])) expect(outcomeOf(answer)).toBe('allowed')
    const newest = await world.get('/groups/team/messages?affix=prepend&limit=4&category=message', alice)
    expect(texts(newest).filter((text) => text === 'held')).toHaveLength(3)
  })

  it.each([
    [
      'a block',
      (world: World) => world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }),
      'ERR_BLOCKED_SENDER',
    ],
    [
      'a role',
      async (world: World) => {
        dataOf(await world.post('/roles', { role: 'mute', name: 'Mute' }))
        dataOf(
          await world.put('/roles/mute/permissions', { permissions: { sendMessage: 'deny', editMessage: 'deny' } }),
        )
        return world.put('/users/alice', { role: 'mute' })
      },
      'ERR_PERMISSION_DENIED',
    ],
  ])('%s that is set holds when it has spoken', async (_, set, code) => {
    const world = await chatWorld()
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const { isAsked, letGo, asked } = addHolding(world)
    const send = world.post('/messages', toBob('held'), alice)
    const edit = world.put(`/messages/${id}`, { data: { text: 'held' } }, alice)
    await isAsked
    await expect.poll(() => asked.length).toBe(2)
    dataOf(await set(world))
    letGo()
    expect(refusal(await send)).toBe(`403 ${code}`)
    expect(refusal(await edit)).toBe(`403 ${code}`)
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['hi'])
  })

  it('another edit is not lost: the whole is judged again', async () => {
    const world = await chatWorld()
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const { isAsked, letGo, asked } = addHolding(world)
    const edit = world.put(`/messages/${id}`, { data: { text: 'held' } }, alice)
    await isAsked
    dataOf(await world.put(`/messages/${id}`, { data: { metadata: { a: 1 } } }, alice))
    letGo()
    dataOf(await edit)
    expect(asked).toEqual(['held', 'hi', 'held'])
    expect(dataOf(await world.get(`/messages/${id}`)).data).toMatchObject({ text: 'held', metadata: { a: 1 } })
  })

  it('a message that is deleted stays deleted', async () => {
    const world = await chatWorld()
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const { isAsked, letGo } = addHolding(world)
    const edit = world.put(`/messages/${id}`, { data: { text: 'held' } }, alice)
    await isAsked
    dataOf(await world.delete(`/messages/${id}`, undefined, alice))
    letGo()
    expect(refusal(await edit)).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    expect(dataOf(await world.get(`/messages/${id}`)).data.text).toBeUndefined()
  })
})
