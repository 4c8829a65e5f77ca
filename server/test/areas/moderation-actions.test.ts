import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { RuleRevision } from '../../src/chat/moderation/model.ts'
import type { Judge } from '../../src/chat/writing/judges.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { hitOf, ruleOf } from '../support/held.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** An app in which a rule stops messages with the word `bad`, and asks for these actions. */
async function strictWorld(...actions: string[]): Promise<{ world: World; rule: RuleRevision }> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { admins: ['carol'], participants: ['bob'] })
  const rule = ruleOf({ actions })
  const judge: Judge = {
    isLocal: true,
    concerns: async (appId) => appId === world.app.appId,
    async judge({ content }) {
      const text = String(content.data.text ?? '')
      return {
        is: 'moderated',
        outcome: { hits: text.includes('bad') ? [hitOf(rule, 'bad', text)] : [], questions: [], cut: 0, took: 1 },
      }
    },
  }
  ;(world.context.judges as Judge[]).push(judge)
  return { world, rule }
}

const select = {
  name: 'count_unacted',
  text: 'select count(*) as count from moderation_decisions where app_id = $1 and not acted',
}

/** Waits until nothing is left to do. */
const enacted = (world: World) =>
  until(async () => (await world.context.database.query<{ count: number }>(select, [world.app.appId]))[0]?.count === 0)

const membersOf = async (world: World) =>
  dataOf(await world.get('/groups/team/members'))
    .map(({ uid }: { uid: string }) => uid)
    .sort()
const acted = async (world: World) =>
  dataOf(await world.get('/audit-log?action=moderation_acted')).map(
    ({ target, details }: { target: { id: string }; details: object }) => ({ uid: target.id, ...details }),
  )

describe('the actions of a rule', () => {
  it('ban its sender from the group, once', async () => {
    const { world } = await strictWorld('blockMessage', 'banUser', 'kickUser')
    const { id } = await sayInGroup(world, 'bob', 'team', 'bad')
    await enacted(world)
    expect(await membersOf(world)).toEqual(['alice', 'carol'])
    expect(dataOf(await world.get('/groups/team/bannedusers'))).toMatchObject([{ uid: 'bob' }])
    expect(refusal(await world.post('/groups/team/members', {}, { as: 'bob' }))).not.toContain('200')
    expect(await acted(world)).toEqual([{ uid: 'bob', action: 'ban', message: id, rules: ['no-bad'], guid: 'team' }])
    const again = { name: 'again', text: 'update moderation_decisions set acted = false where app_id = $1' }
    await world.context.database.query(again, [world.app.appId])
    world.context.moderationActions.soon(world.app, Number(id))
    await enacted(world)
    expect(await acted(world)).toHaveLength(1)
  })

  it('kick its sender, who may come back', async () => {
    const { world } = await strictWorld('flagMessage', 'kickUser')
    const message = await sayInGroup(world, 'bob', 'team', 'bad')
    expect(message.data.moderation).toEqual({ status: 'approved' })
    await enacted(world)
    expect(await membersOf(world)).toEqual(['alice', 'carol'])
    expect(dataOf(await world.get('/moderation/flagged-messages'))).toMatchObject([{ id: message.id }])
    expect((await world.post('/groups/team/members', {}, { as: 'bob' })).status).toBe(200)
  })

  it('leave owners and admins alone, and say so', async () => {
    const { world } = await strictWorld('blockMessage', 'banUser')
    await sayInGroup(world, 'alice', 'team', 'bad')
    await enacted(world)
    await sayInGroup(world, 'carol', 'team', 'bad')
    await enacted(world)
    expect(await membersOf(world)).toEqual(['alice', 'bob', 'carol'])
    expect(await acted(world)).toMatchObject([
      { uid: 'carol', action: 'ban', refused: 'ERR_GROUP_NO_CLEARANCE' },
      { uid: 'alice', action: 'ban', refused: 'ERR_GROUP_NO_CLEARANCE' },
    ])
    // Earlier versions wrote what the refusal said.
    await world.context.database.transaction(async (tx) => {
      await tx.run(sql`select set_config('parley.audit_log', 'erase', true)`)
      await tx.run(sql`
        update audit_log
        set details = (details::jsonb || '{"refused": "alice owns the group team."}')::json
        where app_id = ${world.app.appId} and action = 'moderation_acted' and target = 'alice'`)
    })
    dataOf(await world.delete('/users/alice', { permanent: true }))
    const entries = dataOf(await world.get('/audit-log?action=moderation_acted'))
    expect(entries).toHaveLength(2)
    expect(JSON.stringify(entries)).not.toContain('alice')
  })

  it('block its sender for the receiver, between the two', async () => {
    const { world } = await strictWorld('blockMessage', 'blockUser', 'banUser')
    await say(world, 'bob', 'carol', 'bad')
    await enacted(world)
    expect(dataOf(await world.get('/users/carol/blockedusers'))).toMatchObject([{ uid: 'bob' }])
    const later = await world.post(
      '/messages',
      { receiver: 'carol', receiverType: 'user', data: { text: 'hi' } },
      { as: 'bob' },
    )
    expect(refusal(later)).toBe('403 ERR_BLOCKED_SENDER')
    await sayInGroup(world, 'bob', 'team', 'bad')
    await enacted(world)
    expect(await membersOf(world)).toEqual(['alice', 'carol'])
  })

  it('are not taken by a rule that is only tried out', async () => {
    const { world, rule } = await strictWorld('blockMessage', 'banUser')
    Object.assign(rule, { mode: 'shadow' })
    const message = await sayInGroup(world, 'bob', 'team', 'bad')
    expect(message.data.moderation).toEqual({ status: 'approved' })
    await enacted(world)
    expect(await membersOf(world)).toEqual(['alice', 'bob', 'carol'])
  })

  it('are taken later, where a process was killed before it could', async () => {
    const { world } = await strictWorld('blockMessage', 'kickUser')
    const { moderationActions } = world.context
    const { soon } = moderationActions
    Object.assign(moderationActions, { soon: () => {} })
    await sayInGroup(world, 'bob', 'team', 'bad').finally(() => Object.assign(moderationActions, { soon }))
    expect(await membersOf(world)).toEqual(['alice', 'bob', 'carol'])
    await world.context.moderationActions.sweep(0)
    expect(await membersOf(world)).toEqual(['alice', 'carol'])
  })
})
