import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, texts } from '../support/chat.ts'
import { flag, makePending, moderatedWorld, review, takeRulesAway } from '../support/review.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

takeRulesAway()

const epoch = expect.any(Number)
const handIn = (world: World, body: object = {}) =>
  world.post('/moderation/messages', {
    ...{ sender: 'alice', receiver: 'bob', receiverType: 'user', data: { text: 'hi' } },
    ...body,
  })
const idsOf = (messages: Array<{ id: string }>) => messages.map(({ id }) => id)
const list = async (world: World, query = '') => dataOf(await world.get(`/moderation/messages${query}`))

describe('a message that is handed in', () => {
  it('is sent on behalf of its sender, with its status', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const message = dataOf(
      await handIn(world, { category: 'message', type: 'text', muid: 'm-1', tags: ['a'], sentAt: '1700000000' }),
    )
    const user = (uid: string, name: string) => ({ uid, name, status: 'offline', role: 'default', createdAt: epoch })
    expect(message).toEqual({
      ...{
        id: expect.any(String),
        muid: 'm-1',
        conversationId: 'alice_user_bob',
        sender: 'alice',
        receiverType: 'user',
      },
      ...{ receiver: 'bob', category: 'message', type: 'text', tags: ['a'], sentAt: epoch, updatedAt: epoch },
      data: {
        text: 'hi',
        entities: {
          sender: { entity: { ...user('alice', 'Alice'), conversationId: 'alice_user_bob' }, entityType: 'user' },
          receiver: { entity: user('bob', 'Bob'), entityType: 'user' },
        },
        moderation: { status: 'approved' },
      },
    })
    expect(message.sentAt).toBeGreaterThan(1_700_000_000)
    expect(dataOf(await handIn(world, { muid: 'm-1' })).id).toBe(message.id)
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['hi'])
  })

  it('is held where a rule says so, and the app finds it', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const stopped = dataOf(await handIn(world, { data: { text: 'bad' } }))
    expect(stopped.data.moderation).toEqual({ status: 'disapproved', rule: { id: 'no-bad', name: 'No bad words' } })
    const waiting = dataOf(await handIn(world, { data: { text: 'wait' } }))
    expect(waiting.data.moderation).toEqual({ status: 'pending' })
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).not.toContain('bad')
    const found = dataOf(await world.get(`/moderation/messages/${stopped.id}`))
    expect(found.data.moderation).toEqual(stopped.data.moderation)
  })

  it('brings along who is missing, and changes nobody who is there', async () => {
    const world = await createWorld()
    await createUsers(world, 'bob')
    const people = {
      senderUserDetails: { uid: 'Zoe', name: 'Zoe', createdAt: 1_600_000_000, tags: ['new'] },
      receiverUserDetails: { uid: 'bob', name: 'Somebody else' },
    }
    const message = dataOf(await handIn(world, { sender: 'zoe', ...people }))
    expect(message).toMatchObject({ sender: 'zoe', data: { moderation: { status: 'approved' } } })
    expect(dataOf(await world.get('/users/zoe'))).toMatchObject({ name: 'Zoe', createdAt: 1_600_000_000 })
    expect(dataOf(await world.get('/users/bob')).name).toBe('Bob')
    const receiverGroupDetails = { guid: 'team', name: 'Team', type: 'private' }
    const inGroup = { sender: 'zoe', receiver: 'team', receiverType: 'group', receiverGroupDetails }
    expect(dataOf(await handIn(world, inGroup)).conversationId).toBe('group_team')
    expect(dataOf(await world.get('/groups/team/members')).map(({ uid }: { uid: string }) => uid)).toEqual(['zoe'])
    expect(dataOf(await handIn(world, inGroup)).conversationId).toBe('group_team')
    expect(refusal(await handIn(world, { ...inGroup, sender: 'bob' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(idsOf(await list(world))).toHaveLength(3)
  })

  it('is refused as a send is, and for details that do not fit', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const refused = async (body: object) => refusal(await handIn(world, body))
    expect(await refused({ sender: 'nobody' })).toBe('404 ERR_UID_NOT_FOUND')
    expect(await refused({ receiver: 'nobody' })).toBe('404 ERR_UID_NOT_FOUND')
    expect(await refused({ receiver: 'nowhere', receiverType: 'group' })).toBe('404 ERR_GUID_NOT_FOUND')
    expect(await refused({ data: { text: '' } })).toBe('400 ERR_EMPTY_MESSAGE_TEXT')
    expect(await refused({ sender: undefined })).toBe('400 ERR_BAD_REQUEST')
    expect(await refused({ sentAt: 'soon' })).toBe('400 ERR_BAD_REQUEST')
    expect(await refused({ senderUserDetails: { uid: 'carol', name: 'Carol' } })).toBe('400 ERR_BAD_REQUEST')
    const details = (more: object) => ({ sender: 'carol', senderUserDetails: { uid: 'carol', name: 'Carol', ...more } })
    expect(await refused(details({ role: 'nothing' }))).toBe('404 ERR_ROLE_NOT_FOUND')
    expect(await refused(details({ avatar: 'javascript:alert(1)' }))).toBe('400 ERR_BAD_REQUEST')
    dataOf(await world.post('/users', { uid: 'carol', name: 'Carol' }))
    dataOf(await world.delete('/users/carol', { permanent: true }))
    expect(await refused(details({}))).toBe('409 ERR_IMPORT_UID_ERASED')
    expect(await refused(details({ recreate: true }))).toBe('409 ERR_IMPORT_UID_ERASED')
    expect(refusal(await world.get('/users/carol'))).toBe('404 ERR_UID_NOT_FOUND')
    const receiverGroupDetails = { guid: 'locked', name: 'Locked', type: 'password' }
    const inGroup = { receiver: 'locked', receiverType: 'group', receiverGroupDetails }
    expect(await refused(inGroup)).toBe('400 ERR_BAD_REQUEST')
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(await refused({})).toBe('403 ERR_BLOCKED_SENDER')
    expect(await list(world)).toEqual([])
  })
})

describe('messages that were judged', () => {
  it('are listed with filters and cursors, held ones too', async () => {
    const world = await moderatedWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['carol'] })
    const open = dataOf(await handIn(world))
    const stopped = await say(world, 'alice', 'bob', 'bad')
    const waiting = dataOf(await handIn(world, { receiver: 'team', receiverType: 'group', data: { text: 'bad' } }))
    await makePending(world, waiting.id)
    const custom = dataOf(
      await handIn(world, { sender: 'carol', category: 'custom', type: 'poll', data: { customData: { a: 1 } } }),
    )
    const all = [open.id, stopped.id, waiting.id, custom.id]
    expect(idsOf(await list(world))).toEqual(all)
    expect(idsOf(await list(world, '?moderationStatus=disapproved'))).toEqual([stopped.id])
    expect(idsOf(await list(world, '?moderationStatus=pending'))).toEqual([waiting.id])
    expect(idsOf(await list(world, '?moderationStatus=approved'))).toEqual([open.id, custom.id])
    expect(idsOf(await list(world, '?sender=Carol'))).toEqual([custom.id])
    expect(idsOf(await list(world, '?receiverUID=bob'))).toEqual([open.id, stopped.id, custom.id])
    expect(idsOf(await list(world, '?receiverGUID=team'))).toEqual([waiting.id])
    expect(idsOf(await list(world, '?category=custom'))).toEqual([custom.id])
    expect(idsOf(await list(world, '?type=text'))).toEqual(all.slice(0, 3))
    const first = await world.get('/moderation/messages?limit=2')
    expect(first.body.meta).toMatchObject({
      current: { limit: 2, count: 2 },
      next: { affix: 'append', id: stopped.id },
    })
    const { id, sentAt } = first.body.meta.next
    expect(idsOf(await list(world, `?limit=2&affix=append&id=${id}&sentAt=${sentAt}`))).toEqual(all.slice(2))
    expect(idsOf(await list(world, '?limit=2&affix=prepend'))).toEqual(all.slice(2))
    expect(refusal(await world.get('/moderation/messages?id=999999999'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(refusal(await world.get('/moderation/messages?moderationStatus=maybe'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('are edited as their sender does, and judged anew', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = dataOf(await handIn(world))
    const edited = dataOf(await world.put(`/moderation/messages/${id}`, { data: { text: 'better' } }))
    expect(edited).toMatchObject({ id, editedBy: 'alice', editedAt: epoch, data: { text: 'better' } })
    expect(edited.data.moderation).toEqual({ status: 'approved' })
    const refused = await world.put(`/moderation/messages/${id}`, { data: { text: 'bad' } })
    expect(refusal(refused)).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['better', 'edited'])
    const waits = dataOf(await world.put(`/moderation/messages/${id}`, { data: { text: 'wait' } }))
    expect(waits).toMatchObject({ id, data: { text: 'wait', moderation: { status: 'pending' } } })
    const held = dataOf(await handIn(world, { data: { text: 'bad' } }))
    expect(dataOf(await world.put(`/moderation/messages/${held.id}`, { data: { text: 'worse' } })).id).toBe(held.id)
    expect(refusal(await world.put('/moderation/messages/99999999', { data: { text: 'x' } }))).toBe(
      '404 ERR_MESSAGE_ID_NOT_FOUND',
    )
    const broken = await world.put(`/moderation/messages/${id}`, { data: { text: 7 } })
    expect(refusal(broken)).toBe('400 ERR_INVALID_MESSAGE_TEXT')
  })

  it('are deleted with all that moderation knows of them', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const open = dataOf(await handIn(world, { data: { text: 'flag xyzzy' } }))
    const held = dataOf(await handIn(world, { data: { text: 'bad xyzzy' } }))
    await flag(world, open.id, 'bob', { remark: 'xyzzy' })
    for (const { id } of [open, held]) {
      dataOf(await world.post(`/moderation/messages/${id}/notes`, { text: 'xyzzy' }))
      dataOf(await world.post('/moderation/claims', { list: 'flagged', reviewer: 'rita', ids: [id] }))
    }
    await review(world, 'flagged', open.id, { status: 'approved' })
    for (const { id } of [open, held]) {
      const answer = await world.delete(`/moderation/messages/${id}`)
      expect(answer.body).toEqual({ data: { success: true, message: `message ${id} was deleted` } })
      expect(refusal(await world.get(`/moderation/messages/${id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
      expect(refusal(await world.delete(`/moderation/messages/${id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    }
    const left = async (table: string) => {
      const text = `select count(*) as count from ${table} where app_id = $1`
      const [row] = await world.context.database.query<{ count: number }>({ name: `left_${table}`, text }, [
        world.app.appId,
      ])
      return row?.count
    }
    for (const table of ['flags', 'claims', 'notes', 'reviews', 'queue', 'decisions']) {
      expect(await left(`moderation_${table}`), table).toBe(0)
    }
    expect(await left('message_moderation')).toBe(0)
    expect(dataOf(await world.get('/moderation/reviewed-messages'))).toEqual([])
  })
})
