import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment } from '../../store/statement.ts'
import type { RolePolicy } from '../roles/policies.ts'
import { groupLimits } from './group-limits.ts'
import { roleLimits } from './role-limits.ts'

/** Who looks, and what is set on his role. */
export interface Viewer {
  readonly uid: string
  readonly policy: RolePolicy | undefined
}

/** A message as far as is needed to tell where it stands. */
interface Placed {
  readonly id: number
  readonly kind: 1 | 2
  readonly receiver: string
}

/**
 * Of messages that stand beside others (the last of a conversation, one that is quoted), those that the viewer may see in
 * lists too: his role and his scopes (`listMessages.*`) hide the same there as here.
 */
export async function readVisible(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  messages: readonly Placed[],
): Promise<ReadonlySet<number>> {
  const ids = messages.map(({ id }) => id)
  return readWithin(on, appId, ids, await readLimits(on, appId, viewer, messages))
}

/** What the viewer may see of the conversations of some messages: conditions on `m`. */
export async function readLimits(
  on: Queryable,
  appId: number,
  { uid, policy }: Viewer,
  messages: ReadonlyArray<Omit<Placed, 'id'>>,
): Promise<Fragment[]> {
  const guids = [...new Set(messages.flatMap(({ kind, receiver }) => (kind === 2 ? receiver : [])))]
  const ofGroups = guids.length === 0 ? [] : await groupLimits(on, appId, uid, guids)
  return [...roleLimits(policy, uid), ...ofGroups]
}

/** Those of some messages that meet conditions on `m`. */
export async function readWithin(
  on: Queryable,
  appId: number,
  ids: readonly number[],
  limits: readonly Fragment[],
): Promise<ReadonlySet<number>> {
  if (limits.length === 0 || ids.length === 0) return new Set(ids)
  const rows = await on.run(sql<{ id: number }>`
    select m.id
    from messages m
    where m.app_id = ${appKey(appId)}
    and m.id = any(${ids}::bigint[])
    and ${allOf(limits)}`)
  return new Set(rows.map(({ id }) => id))
}
