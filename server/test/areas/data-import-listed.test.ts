import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { statement } from '../../src/store/statement.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { codes, importAll } from '../support/imports.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

// biome-ignore lint/suspicious/noExplicitAny: what lists answer, as a client sees it
type Listed = any

/** An app in which people have talked: texts, a thread, an edit, a deletion, a reaction, members that came and went. */
async function createSource() {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  dataOf(await world.put('/users/bob', { statusMessage: 'away' }))
  dataOf(await world.put('/groups/team', { description: 'Everybody' }))
  const first = await say(world, 'alice', 'bob', 'hello')
  const gone = await say(world, 'bob', 'alice', 'not meant')
  await sayInGroup(world, 'bob', 'team', 'good morning')
  const reply = { receiver: 'alice', receiverType: 'user', data: { text: 'a reply' } }
  dataOf(await world.post('/messages', { ...reply, parentId: first.id }, { as: 'bob' }))
  dataOf(await world.post(`/messages/${first.id}/reactions/👍`, undefined, { as: 'bob' }))
  dataOf(await world.put(`/messages/${first.id}`, { data: { text: 'hello Bob' } }, { as: 'alice' }))
  dataOf(await world.delete(`/messages/${gone.id}`, undefined, { as: 'bob' }))
  dataOf(await world.post('/groups/team/members', { participants: ['carol'] }, { as: 'alice' }))
  dataOf(await world.delete('/groups/team/members/carol', undefined, { as: 'alice' }))
  return { world, first }
}

const list = async (world: World, path: string) => dataOf(await world.get(path)) as Listed[]
const allMessages = (world: World) => list(world, '/messages?perPage=1000')

/** The members of a group as its list answers them, and the group that it is the list of. */
const membersOf = async (world: World, guid: string) =>
  (await list(world, `/groups/${guid}/members`)).map((member) => ({ guid, ...member }))

async function move(from: World, to: World) {
  const members = await membersOf(from, 'team')
  const moved = {
    users: await list(from, '/users'),
    groups: await list(from, '/groups'),
    members: members.filter(({ uid }) => uid !== 'alice'),
    messages: await allMessages(from),
  }
  for (const [kind, records] of Object.entries(moved)) {
    const outcomes = await importAll(to, kind as keyof typeof moved, records)
    expect(new Set(Object.values(codes(outcomes))), kind).toEqual(new Set(['stored']))
  }
}

const storedActions = statement(`
  select data::text
  from messages
  where app_id = $1
  and category = 'action'
  and type = 'message'
  order by id`)

/** What people see of messages, by what does not change when they move. */
function shown(messages: readonly Listed[]) {
  const place = new Map(messages.map(({ id }, index) => [id, index]))
  return messages.map(
    ({ sender, receiver, category, type, data, parentId, sentAt, editedAt, deletedAt, replyCount }) => ({
      ...{ sender, receiver, category, type, sentAt, editedAt, deletedAt, replyCount },
      ...{ text: data?.text, action: data?.action, parent: place.get(parentId) },
      on: data?.entities?.on?.entity.uid ?? place.get(data?.entities?.on?.entity.id),
    }),
  )
}

describe('what lists of the API answer', () => {
  it('is imported as it is: users, groups, members, messages with threads, and actions', async () => {
    const [{ world }, target] = await Promise.all([createSource(), createWorld()])
    await move(world, target)
    const before = await allMessages(world)
    expect(shown(await allMessages(target))).toEqual(shown(before))
    expect(shown(before).map(({ category }) => category)).toContain('action')
    expect(dataOf(await target.get('/users/bob')).statusMessage).toBe('away')
    expect(dataOf(await target.get('/groups/team')).description).toBe('Everybody')
    for (const viewer of ['alice', 'bob']) {
      const threads = async (of: World) => {
        const [parent] = (await allMessages(of)).filter(({ replyCount }) => replyCount > 0)
        return shown(dataOf(await of.get(`/messages/${parent.id}/thread`, { as: viewer })))
      }
      expect(await threads(target)).toMatchObject([{ text: 'a reply' }])
      expect((await threads(target)).length).toBe((await threads(world)).length)
    }
    const actions = (await allMessages(target)).filter(({ category }) => category === 'action')
    expect(actions.map(({ data }) => data.action)).toEqual(['edited', 'deleted', 'added', 'kicked'])
    expect(await findDrift(target.context.database, target.app.appId)).toEqual([])
  })

  it('can come again, and is there already', async () => {
    const [{ world }, target] = await Promise.all([createSource(), createWorld()])
    await move(world, target)
    const outcomes = await importAll(target, 'messages', await allMessages(world))
    expect(new Set(Object.values(codes(outcomes)))).toEqual(new Set(['ERR_IMPORT_MUID_ALREADY_EXISTS']))
  })

  it('has no texts of edited and deleted messages in the actions that tell of them', async () => {
    const [{ world }, target] = await Promise.all([createSource(), createWorld()])
    await move(world, target)
    const rows = await target.context.database.query<{ data: string }>(storedActions, [target.app.appId])
    expect(rows.map(({ data }) => JSON.parse(data))).toEqual([{ action: 'edited' }, { action: 'deleted' }])
  })

  it('tells of reactions with persons, and says that counts tell nobody', async () => {
    const [{ world, first }, target] = await Promise.all([createSource(), createWorld()])
    const [message] = (await allMessages(world)).filter(({ id }) => id === first.id)
    await importAll(target, 'users', await list(world, '/users'))
    const outcomes = await importAll(target, 'messages', [message])
    expect(outcomes[first.id]).toMatchObject({ success: true, ignored: ['reactions'] })
    const reactions = await list(world, `/messages/${first.id}/reactions`)
    const again = await importAll(target, 'messages', [{ ...message, id: undefined, muid: 'again', reactions }])
    expect(again.again).toMatchObject({ success: true })
    expect(
      again.again.data.reactions ?? (await list(target, `/messages/${again.again.data.id}/reactions`)),
    ).toMatchObject([{ reaction: '👍', uid: 'bob' }])
  })
})

describe('records of lists that do not fit', () => {
  const text = { sender: 'alice', receiverType: 'user', receiver: 'bob', sentAt: 1_700_000_000, data: { text: 'hi' } }
  const action = { ...text, category: 'action', type: 'message', data: { action: 'edited' } }
  const inGroup = { ...action, type: 'groupMember', receiverType: 'group', receiver: 'team' }
  const sides = { by: { entity: { uid: 'alice' } }, on: { entity: { uid: 'bob' } } }

  async function createTarget() {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice')
    return world
  }

  it('are refused by name, and never flattened', async () => {
    const world = await createTarget()
    const outcomes = await importAll(world, 'messages', [
      { ...text, id: '1' },
      { ...text, id: '2', parentId: '77' },
      { ...text, id: '3', parentId: '1', receiver: 'carol' },
      { ...action, id: '4' },
      { ...action, id: '5', subjectMuid: '88' },
      { ...action, id: '6', subjectMuid: '6' },
      { ...action, id: '7', subjectMuid: '1', data: { action: 'kicked' } },
      { ...inGroup, id: '8', data: { action: 'kicked' } },
      { ...inGroup, id: '9', data: { action: 'promoted', entities: sides } },
      { ...inGroup, id: '10', data: { action: 'kicked', entities: { by: null, on: { entity: null } } } },
      { ...inGroup, id: '11', receiverType: 'user', receiver: 'bob', data: { action: 'left', entities: sides } },
      { ...inGroup, id: '12', type: 'nonsense', data: { action: 'left', entities: sides } },
      { ...inGroup, id: '13', data: { action: 'left', entities: sides } },
      { ...text, id: {}, muid: undefined },
    ])
    expect(Object.values(codes(outcomes))).toEqual([
      'stored',
      'ERR_WRONG_MESSAGE_THREAD',
      'ERR_WRONG_MESSAGE_THREAD',
      'ERR_IMPORT_INVALID_MESSAGE_FORMAT',
      'ERR_MESSAGE_ID_NOT_FOUND',
      'ERR_BAD_REQUEST',
      'ERR_BAD_REQUEST',
      'ERR_IMPORT_INVALID_MESSAGE_FORMAT',
      'ERR_BAD_REQUEST',
      'ERR_IMPORT_INVALID_MESSAGE_FORMAT',
      'ERR_BAD_REQUEST',
      'ERR_BAD_REQUEST',
      'stored',
      'ERR_IMPORT_INVALID_MESSAGE_FORMAT',
    ])
  })

  it('have replies that find their parent by its id, though it is imported by its muid', async () => {
    const world = await createTarget()
    const outcomes = await importAll(world, 'messages', [
      { ...text, id: '1', muid: 'mine' },
      { ...text, id: '2', parentId: 1 },
    ])
    expect(Object.values(codes(outcomes))).toEqual(['stored', 'stored'])
    expect(outcomes['2'].data.parentId).toBe(outcomes.mine.data.id)
  })

  it('keep private metadata of that time out of what a group is shown', async () => {
    const world = await createTarget()
    const entities = { ...sides, on: { entity: { uid: 'bob', metadata: { '@private': { phone: '123' } } } } }
    const outcomes = await importAll(world, 'messages', [{ ...inGroup, id: '1', data: { action: 'joined', entities } }])
    expect(outcomes['1'].success).toBe(true)
    const seen = JSON.stringify(await world.get('/groups/team/messages', { as: 'alice' }))
    expect(seen).toContain('joined')
    expect(seen).not.toContain('phone')
  })

  it('name what an import does not know, of every kind', async () => {
    const world = await createTarget()
    const [users, groups, members] = await Promise.all([
      importAll(world, 'users', [{ uid: 'dora', name: 'Dora', mood: 'fine', status: 'offline' }]),
      importAll(world, 'groups', [{ guid: 'club', name: 'Club', type: 'public', membersCount: 3, banner: 'x' }]),
      importAll(world, 'members', [{ guid: 'team', uid: 'carol', name: 'Carol', nickname: 'Caro' }]),
    ])
    expect(users.dora.ignored).toEqual(['mood'])
    expect(groups.club.ignored).toEqual(['banner'])
    expect(members.team_member_carol).toMatchObject({ success: true, ignored: ['nickname'] })
  })
})
