import { expect, test } from 'vitest'
import { legacyTriggerIds, triggers } from '../src/triggers.ts'

test('every trigger has an id of its own and a description', () => {
  expect(new Set(triggers.map((trigger) => trigger.id)).size).toBe(triggers.length)
  expect(triggers.filter((trigger) => !/^[a-z_]+$/.test(trigger.id) || trigger.description === '')).toEqual([])
})

test('the triggers of what happens to messages and groups are listed under their categories', () => {
  const idsOf = (category: string) => triggers.filter((trigger) => trigger.category === category).map(({ id }) => id)
  expect(idsOf('message')).toContain('message_sent')
  expect(idsOf('group')).toContain('group_member_scope_changed')
  expect(idsOf('legacy')).toEqual(['before_message', 'after_message', 'user_connection_status_change'])
})

test('the triggers of the older envelope are all listed', () => {
  const ids = new Set<string>(triggers.map((trigger) => trigger.id))
  expect(legacyTriggerIds.filter((id) => !ids.has(id))).toEqual([])
})
