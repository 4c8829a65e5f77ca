import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { compileFragment } from '../../src/store/statement.ts'
import { attackerAs } from '../support/attacker.ts'
import { inTurns } from '../support/in-turns.ts'
import { createUsers, createWorld } from '../support/world.ts'

const filters = ['withTags', 'hasLinks', 'hasReactions', 'hasMentions', 'hasAttachments', 'hideReplies', 'hideDeleted']
const more = ['myMentionsOnly', 'unread', 'undelivered']

/** One token asks for lists in ever new combinations of filters, each of which takes a name that the others then lack. */
it('No token uses up what makes the lists of others fast', async () => {
  const world = await createWorld()
  await createUsers(world, 'mallory')
  const mallory = await attackerAs(world, 'mallory')
  const all = [...filters, ...more]
  const combinations = Array.from({ length: 600 }, (_, i) =>
    all.filter((_, bit) => (i >> bit) % 2 === 1).map((name) => `${name}=true`),
  )
  await inTurns(
    8,
    combinations.map((query) => async () => {
      expect((await mallory.get(`/messages?${query.join('&')}`)).status).toBe(200)
    }),
  )
  // A list of somebody else, that nobody has asked for yet, still has a name under which it is planned once.
  const { name } = compileFragment(sql`select 1 as a_list_that_is_new`)
  expect(name).toMatch(/./)
  expect(compileFragment(sql`select 1 as a_list_that_is_new`).name).toBe(name)
})
