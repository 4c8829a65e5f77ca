import { deactivateUsers, deleteForGood } from '../../areas/users/index.ts'
import type { App } from '../../chat/identity.ts'
import { digestOf } from '../../chat/users/erased.ts'
import type { Context } from '../../context.ts'
import { nowMs } from '../../store/clock.ts'
import { statement } from '../../store/statement.ts'
import type { LedgerEntry } from './destinations.ts'

type Store = Pick<Context, 'database' | 'events' | 'tables' | 'audit' | 'secrets' | 'log'>

/** How much was done again, by kind. */
export type Applied = Readonly<Record<string, number>>

const selectLedger = statement(`select value from settings where name = 'ledger'`)

const selectKnown = statement(`
  select id, kind, app_id as app, encode(digest, 'base64') as digest, at
  from ledger
  where id = any($1::bigint[])`)

const keep = statement(`
  insert into ledger (id, kind, app_id, digest, at, pending)
  overriding system value
  select e.id, e.kind, e.app, decode(e.digest, 'base64'), e.at, false
  from json_to_recordset($1::json) as e(id bigint, kind text, app integer, digest text, at bigint)
  on conflict do nothing`)

const selectApps = statement(`
  select app_id as "appId", name, region
  from apps
  where app_id = any($1::integer[])`)

const pageSize = 5_000

const selectUids = statement(`
  select uid
  from users
  where app_id = $1
  and uid > $2
  order by uid
  limit ${pageSize}`)

/** Also those that the backup does not have: an environment that still names one must not bring it back. */
const rememberKeys = statement(`
  insert into deleted_api_keys (app_id, digest, deleted_at)
  select e.app, decode(e.digest, 'base64'), e.at / 1000
  from unnest($1::integer[], $2::text[], $3::bigint[]) e(app, digest, at)
  on conflict do nothing`)

/**
 * Those who are not in the backup: they may come back with an import that is repeated. Who is in it has been erased again by now, and so
 * is noted already where this service keeps its ledger.
 */
const rememberErased = statement(`
  with remembered as (
    insert into erased_digests (app_id, kind, digest)
    select e.app, 1, decode(e.digest, 'base64')
    from unnest($1::integer[], $2::text[]) e(app, digest)
    join apps a on a.app_id = e.app
    on conflict do nothing
    returning app_id, digest
  )
  insert into ledger (kind, app_id, digest, at)
  select 'erased', app_id, digest, ${nowMs}
  from remembered`)

const removeKeys = statement(`
  delete from api_keys k
  using unnest($1::integer[], $2::text[]) e(app, digest)
  where k.app_id = e.app
  and k.digest = decode(e.digest, 'base64')
  returning k.app_id`)

const removeTokens = statement(`
  delete from auth_tokens t
  using unnest($1::integer[], $2::text[]) e(app, digest)
  where t.app_id = e.app
  and t.digest = decode(e.digest, 'base64')
  returning t.app_id`)

const removeDevices = statement(`
  delete from push_tokens t
  using unnest($1::integer[], $2::text[]) e(app, digest)
  where t.app_id = e.app
  and t.auth_digest = decode(e.digest, 'base64')
  returning t.app_id`)

/** By then it would have expired by itself: an issuer's tokens are good for a day at most. */
const endJwts = statement(`
  insert into ended_jwts (app_id, digest, uid, expires_at)
  select e.app, decode(e.digest, 'base64'), '', e.at / 1000 + 2 * 86400
  from unnest($1::integer[], $2::text[], $3::bigint[]) e(app, digest, at)
  on conflict do nothing
  returning app_id`)

const removeOperatorTokens = statement(`
  delete from operator_tokens t
  using unnest($1::text[]) e(digest)
  where t.digest = decode(e.digest, 'base64')
  returning t.token_id`)

const setOperators = statement(`
  update operators o
  set disabled_at = case when e.kind = 'operator_disabled' then e.at / 1000 end
  from unnest($1::text[], $2::text[], $3::bigint[]) e(kind, digest, at)
  where int4send(o.operator_id) = decode(e.digest, 'base64')
  and (o.disabled_at is null) = (e.kind = 'operator_disabled')
  returning o.operator_id`)

/** As `areas/apps/lifecycle.ts` does: seven days from when it was deleted, it goes. */
const setApps = statement(`
  update apps a
  set deletes_at = case when e.kind = 'app_deleted' then e.at / 1000 + 7 * 86400 end,
    paused_at = coalesce(a.paused_at, e.at / 1000)
  from unnest($1::text[], $2::text[], $3::bigint[]) e(kind, digest, at)
  where int4send(a.app_id) = decode(e.digest, 'base64')
  and (a.deletes_at is null) = (e.kind = 'app_deleted')
  returning a.app_id`)

const logOut = statement(`
  update users
  set tokens_after = greatest(tokens_after, $3)
  where app_id = $1
  and uid = $2
  returning uid`)

const endOperatorSessions = statement('delete from operator_sessions returning session_id')

/**
 * Does again what was done after the moment of a backup and is not in it: erases who was erased, removes keys and tokens that
 * were revoked. Nobody serves the database meanwhile.
 * @param entries of the ledger, from everywhere that it is kept; those of other databases are passed over
 */
export async function applyLedger(store: Store, entries: readonly LedgerEntry[]): Promise<Applied> {
  const { database } = store
  const [ledger] = await database.query<{ value: string }>(selectLedger)
  const own = new Map(entries.filter(({ of }) => of === ledger?.value).map((entry) => [wholeOf(entry), entry]))
  const ids = [...own.values()].map(({ id }) => id)
  const known = await database.query<Omit<LedgerEntry, 'of'>>(selectKnown, [ids])
  for (const entry of known) own.delete(wholeOf(entry))
  const fresh = [...own.values()].sort((one, other) => one.id - other.id || one.at - other.at)
  const of = (...kinds: string[]) => fresh.filter(({ kind }) => kinds.includes(kind))
  const columns = (list: readonly LedgerEntry[]) => ({
    kinds: list.map(({ kind }) => kind),
    apps: list.map(({ app }) => app),
    digests: list.map(({ digest }) => digest),
    times: list.map(({ at }) => at),
  })
  const keys = columns(of('api_key'))
  const tokens = columns(of('auth_token'))
  const jwts = columns(of('jwt'))
  const operators = columns(latest(of('operator_disabled', 'operator_enabled')))
  const apps = columns(latest(of('app_deleted', 'app_undeleted')))
  const operatorTokens = columns(of('operator_token'))

  await database.query(removeDevices, [tokens.apps, tokens.digests])
  await database.query(rememberKeys, [keys.apps, keys.digests, keys.times])
  const applied = {
    'API keys revoked': await count(store, removeKeys, [keys.apps, keys.digests]),
    'auth tokens revoked': await count(store, removeTokens, [tokens.apps, tokens.digests]),
    'logins ended': await count(store, endJwts, [jwts.apps, jwts.digests, jwts.times]),
    'tokens of operators revoked': await count(store, removeOperatorTokens, [operatorTokens.digests]),
    'sessions of operators ended': await count(store, endOperatorSessions, []),
    'operators disabled or enabled': await count(store, setOperators, [
      operators.kinds,
      operators.digests,
      operators.times,
    ]),
    'apps deleted or taken back': await count(store, setApps, [apps.kinds, apps.digests, apps.times]),
    ...(await applyToUsers(store, of('erased', 'logged_out'))),
  }
  const erased = columns(of('erased'))
  await database.query(rememberErased, [erased.apps, erased.digests])
  await database.query(keep, [JSON.stringify(fresh)])
  return Object.fromEntries(Object.entries(applied).filter(([, number]) => number > 0))
}

/** Two restores of the same backup gave out the same numbers once. */
const wholeOf = ({ id, kind, app, digest, at }: Omit<LedgerEntry, 'of'>) => JSON.stringify([id, kind, app, digest, at])

/** Of what was changed to and fro, the last. */
function latest(entries: readonly LedgerEntry[]): LedgerEntry[] {
  return [...new Map(entries.map((entry) => [entry.digest, entry])).values()]
}

async function count({ database }: Store, query: ReturnType<typeof statement>, values: unknown[]): Promise<number> {
  return (await database.query(query, values)).length
}

/** Entries name users by digests, so all users of an app are looked through, where there are any for it. */
async function applyToUsers(store: Store, entries: readonly LedgerEntry[]): Promise<Record<string, number>> {
  const done = { 'users erased': 0, 'users logged out': 0 }
  const apps = await store.database.query<App>(selectApps, [[...new Set(entries.map(({ app }) => app))]])
  for (const app of apps) {
    const byDigest = new Map<string, LedgerEntry[]>()
    for (const entry of entries.filter((entry) => entry.app === app.appId)) {
      byDigest.set(entry.digest, [...(byDigest.get(entry.digest) ?? []), entry])
    }
    for await (const uid of uidsOf(store, app.appId)) {
      const digest = digestOf(store.secrets, app.appId, 'uid', uid).toString('base64')
      for (const { kind, at } of byDigest.get(digest) ?? []) {
        if (kind === 'erased') {
          await deactivateUsers(store, app.appId, [uid])
          await deleteForGood(store, app, uid)
          done['users erased']++
          break
        }
        done['users logged out'] += await count(store, logOut, [app.appId, uid, Math.floor(at / 1000)])
      }
    }
  }
  return done
}

async function* uidsOf({ database }: Store, appId: number): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const rows = await database.query<{ uid: string }>(selectUids, [appId, after])
    for (const { uid } of rows) yield uid
    if (rows.length < pageSize) return
    after = rows.at(-1)?.uid ?? after
  }
}
