import { validityOf } from '../../chat/credentials/tokens.ts'
import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import { dropTokens, endSessions, isValid } from './tokens.ts'

/** A device that is pushed to. */
interface Device {
  readonly platform: string
  readonly type: string
  readonly provider: string
  readonly updatedAt: number
}

interface SessionRow {
  readonly id: number
  readonly platform: string | null
  readonly agent: string | null
  readonly createdAt: number
  readonly usedAt: number | null
  readonly devices: readonly Device[]
}

const select = statement(`
  select t.ordinal as id, t.platform, t.user_agent as agent, t.created_at as "createdAt", t.used_at as "usedAt",
    array(
      select json_build_object('platform', d.platform, 'type', d.type, 'provider', n.id, 'updatedAt', d.updated_at)
      from push_tokens d
      join notification_providers n on n.app_id = d.app_id and n.key = d.provider
      where d.app_id = $1
      and d.auth_digest = t.digest
      order by d.updated_at desc, d.digest
    ) as devices
  from (
    select *
    from auth_tokens
    where app_id = $1
    and uid = $2
    and ${isValid}
  ) t
  order by t.ordinal desc`)

/** Where a user is logged in: their tokens that have not expired, newest first, without what they say. */
export async function listSessionsOf(
  { database, settings }: Pick<Context, 'database' | 'settings'>,
  appId: number,
  uid: string,
) {
  const { createdAfter, usedAfter } = validityOf(await settings.of(appId), Math.floor(Date.now() / 1000))
  const rows = await database.query<SessionRow>(select, [appId, uid, createdAfter, usedAfter])
  return rows.map(({ id, platform, agent, usedAt, ...rest }) => ({
    id: String(id),
    ...(platform !== null && { platform }),
    ...(agent !== null && { agent }),
    ...(usedAt !== null && { usedAt }),
    ...rest,
    devices: [...rest.devices],
  }))
}

const selectOne = statement(`
  select digest
  from auth_tokens
  where app_id = $1
  and uid = $2
  and ordinal = $3
  for update`)

const remove = statement(`
  delete from auth_tokens
  where app_id = $1
  and digest = $2
  returning digest`)

/** Logs a user out of one device. @returns false where there is no such session */
export async function endSessionOf(
  { database, events, audit }: Pick<Context, 'database' | 'events' | 'audit'>,
  appId: number,
  uid: string,
  id: number,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [found] = await tx.query<{ digest: Buffer }>(selectOne, [appId, uid, id])
    if (found === undefined) return false
    const removed = await dropTokens(tx, appId, remove, found.digest)
    await audit.record(tx, appId, { action: 'token_deleted', type: 'user', target: uid, details: { count: 1 } })
    tx.afterCommit(() => endSessions(events, appId, uid, removed))
    return true
  })
}
