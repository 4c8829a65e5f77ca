import type { User } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { readAway, readBlockInfo } from '../users/block-info.ts'
import { readUsers, showUser, type UserRow, withoutPresence } from '../users/rows.ts'
import type { AddingFeature, Addition } from './additions.ts'
import type { ShowOptions } from './show.ts'
import { traits } from './traits.ts'

/** A message as far as its mentions go. */
interface Mentioning {
  readonly id: number
  readonly mentioned: readonly string[] | null
}

/** Adds `data.mentions` to messages whose text mentions users: each existing one by uid, in their current state. */
export const mentionsOfMessages: AddingFeature = { bits: traits.mentions, read: readMentions }

/** What mentions add to each of some messages, by id; those that mention nobody who is known are left out. */
export async function readMentions(
  on: Queryable,
  appId: number,
  rows: ReadonlyArray<Mentioning>,
  options: ShowOptions,
): Promise<Map<number, Addition>> {
  const uids = rows.flatMap(({ mentioned }) => mentioned ?? [])
  const shown = await showMentioned(on, appId, await readUsers(on, appId, uids), options)
  return new Map(
    rows.flatMap(({ id, mentioned }): Array<[number, Addition]> => {
      const known = (mentioned ?? []).flatMap((uid): Array<[string, User]> => {
        const user = shown.get(uid)
        return user === undefined ? [] : [[uid, user]]
      })
      return known.length === 0 ? [] : [[id, { data: { mentions: Object.fromEntries(known) } }]]
    }),
  )
}

/** Tags and blocks are shown where they are asked for; there are blocks only as somebody sees them. */
async function showMentioned(
  on: Queryable,
  appId: number,
  users: ReadonlyMap<string, UserRow>,
  { viewer, withMentionTags = false, withMentionBlocks = false }: ShowOptions,
): Promise<Map<string, User>> {
  const blocks =
    withMentionBlocks && viewer !== undefined
      ? await readBlockInfo(on, appId, viewer, [...users.keys()])
      : new Map<string, never>()
  const away = await readAway(on, appId, viewer, users.values())
  return new Map(
    [...users].map(([uid, user]) => {
      const shown = showUser(user, 'other', { withTags: withMentionTags })
      return [uid, { ...(away.has(uid) ? withoutPresence(shown) : shown), ...blocks.get(uid) }]
    }),
  )
}
