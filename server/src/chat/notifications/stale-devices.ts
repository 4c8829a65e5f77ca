import type { AppSettings } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** For so long after its auth token has expired a device is still notified: whoever is away longer has most likely left. */
export const keptAfterExpiryDays = 60

const settingOf = (name: string, fallback: string) =>
  `coalesce((a.settings ->> '${name}')::bigint, ${fallback}::bigint)`

/** Apps whose tokens do not expire are not looked at. Uses of tokens are noted within an hour, which is granted. */
const remove = statement(`
  with expiring as materialized (
    select a.app_id, ${settingOf('tokenLifetime', '$2')} as lifetime, ${settingOf('tokenIdleTimeout', '$3')} as idle
    from apps a
    where ${settingOf('tokenLifetime', '$2')} <> 0
    or ${settingOf('tokenIdleTimeout', '$3')} <> 0
  )
  delete from push_tokens
  where ctid in (
    select t.ctid
    from expiring e
    join push_tokens t on t.app_id = e.app_id
    join auth_tokens k on k.app_id = t.app_id and k.digest = t.auth_digest
    where (e.lifetime <> 0 and k.created_at + e.lifetime <= $1)
    or (e.idle <> 0 and k.used_at + e.idle + 3600 <= $1)
    limit 2000
    for update of t skip locked
  )
  returning uid`)

type Expiry = Pick<AppSettings, 'tokenLifetime' | 'tokenIdleTimeout'>

/**
 * Forgets some devices whose auth token expired long ago.
 * @param defaults what holds for apps that have not set it
 * @param now epoch milliseconds
 * @returns how many; 0: there are no more
 */
export async function forgetStaleDevices(
  on: Queryable,
  { tokenLifetime, tokenIdleTimeout }: Expiry,
  now: number,
): Promise<number> {
  const expiredBy = Math.floor(now / 1000) - keptAfterExpiryDays * 86_400
  return (await on.query(remove, [expiredBy, tokenLifetime, tokenIdleTimeout])).length
}
