import { beforeAll, describe, expect, it } from 'vitest'
import { attackerAs, attackerWith } from '../support/attacker.ts'
import { createGroup, dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** Somebody takes the uid of a user who was deleted for good, and with it what that user was. */
describe('The uid of a user who was permanently deleted', () => {
  let world: World
  let old: string

  beforeAll(async () => {
    world = await createWorld()
    await createUsers(world, 'owner', 'gone')
    await createGroup(world, 'team', 'owner', { participants: ['gone'] })
    await createGroup(world, 'club', 'owner', { participants: ['gone'] })
    old = (await sayInGroup(world, 'gone', 'team', 'my word')).id
    dataOf(await world.post('/groups/club/bannedusers/gone'))
    dataOf(await world.delete('/users/gone', { permanent: true }))
  })

  it('is not given away by an authOnly key', async () => {
    const thief = attackerWith(world, { apikey: world.authKey })
    expect(refusal(await thief.post('/users', { uid: 'gone', name: 'Mallory' }))).toBe('409 ERR_UID_ALREADY_EXISTS')
  })

  it('gives whoever has it next neither messages nor a way past bans', async () => {
    dataOf(await world.post('/users', { uid: 'gone', name: 'Mallory' }))
    const mallory = await attackerAs(world, 'gone')
    expect(refusal(await mallory.post('/groups/club/members', {}))).toBe('403 ERR_BANNED_GROUPMEMBER')
    dataOf(await mallory.post('/groups/team/members', {}))
    expect(refusal(await mallory.put(`/messages/${old}`, { data: { text: 'forged' } }))).toBe(
      '403 ERR_MESSAGE_NOT_A_SENDER',
    )
    expect((await mallory.delete(`/messages/${old}`)).status).toBe(403)
    const { data } = dataOf(await world.get(`/messages/${old}`, { as: 'owner' }))
    expect(data).toMatchObject({ text: 'my word', entities: { sender: { entity: { name: 'Deleted user' } } } })
    expect(JSON.stringify(dataOf(await mallory.get('/groups/team/messages?category=message')))).not.toContain('Mallory')
  })
})
