import { sql } from 'kysely'
import { removeUnused } from '../../media/library.ts'
import { fileMembers, namedIn } from '../../media/links.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { type Fragment, statement } from '../../store/statement.ts'
import type { App } from '../identity.ts'

/**
 * Notes the use of the files that `naming` has, by app, message and key. The sweep removes a file that nobody has claimed in
 * time: one of the two waits for the other. Files are claimed in the order of their keys, so that requests that name the same
 * ones do not wait for each other for ever. One that is still arriving is used, too, but not claimed before it is there.
 */
export const writeUsesSql = `
  unclaimed as (
    select f.app_id, f.key
    from media_files f
    join (select distinct app_id, key from naming) n on f.app_id = n.app_id and f.key = n.key
    where f.removed_at is null
    and not f.arriving
    and f.claim_by is not null
    order by f.app_id, f.key
    for update of f
  ),
  claiming as (
    update media_files f
    set claim_by = null
    from unclaimed u
    where f.app_id = u.app_id
    and f.key = u.key
  ),
  using_files as (
    insert into media_uses (app_id, message_id, key)
    select n.app_id, n.id, n.key
    from naming n
    join media_files f on f.app_id = n.app_id and f.key = n.key
    where f.removed_at is null
    on conflict do nothing
  )`

const insert = statement(`
  with naming as materialized (
    select $1::int as app_id, u.id, u.key
    from unnest($2::bigint[], $3::text[]) as u(id, key)
  ),
  ${writeUsesSql}
  select`)

/** The keys of our own files that a message names in its data, by whatever host they were reached. */
export function mediaKeysOf({ name }: Pick<App, 'name'>, data: Readonly<Record<string, unknown>>): string[] {
  return keysIn(data, (address) => new RegExp(`/media/${name}/([0-9a-f]{32})/`).exec(address)?.[1])
}

/** The same of data as JSON, where the name of the app is not at hand; keys of other apps are no files of this one. */
export function mediaKeysIn(json: string): string[] {
  if (!json.includes('/media/')) return []
  return keysIn(JSON.parse(json), (address) => /\/media\/[^/]+\/([0-9a-f]{32})\//.exec(address)?.[1])
}

/** Whether a message may name files, by whatever addresses, from its data as JSON. */
export function mayNameFiles(json: string): boolean {
  return json.includes('"attachments"') || fileMembers.some((name) => json.includes(`"${name}"`))
}

/** Wherever the members that name files stand: what an address is signed for is kept, too. */
function keysIn(data: object, keyOf: (address: string) => string | undefined): string[] {
  const keys = new Set<string>()
  for (const [address] of namedIn(data)) {
    const key = keyOf(address)
    if (key !== undefined) keys.add(key)
  }
  return [...keys]
}

/** A file of our own that a message names. */
export interface FileUse {
  readonly messageId: number
  readonly key: string
}

/** Notes that a message uses files, so that they stay as long as it does. */
export async function recordUses(
  on: Queryable,
  app: Pick<App, 'appId'>,
  messageId: number,
  keys: readonly string[],
): Promise<void> {
  await recordAllUses(
    on,
    app,
    keys.map((key) => ({ messageId, key })),
  )
}

/** The same for many messages. */
export async function recordAllUses(on: Queryable, app: Pick<App, 'appId'>, uses: readonly FileUse[]): Promise<void> {
  if (uses.length > 0)
    await on.query(insert, [app.appId, uses.map(({ messageId }) => messageId), uses.map(({ key }) => key)])
}

const selectData = statement(`
  select id, data::text as data
  from messages
  where app_id = $1
  and id = any($2::bigint[])
  and not purged
  and data::text like '%/media/%'`)

/** The files that stored messages name. */
export async function readUses(
  on: Queryable,
  app: Pick<App, 'appId'>,
  messageIds: readonly number[],
): Promise<FileUse[]> {
  if (messageIds.length === 0) return []
  const rows = await on.query<{ id: number; data: string }>(selectData, [app.appId, messageIds])
  return rows.flatMap(({ id, data }) => mediaKeysIn(data).map((key) => ({ messageId: id, key })))
}

const remove = statement(`
  delete from media_uses
  where app_id = $1
  and message_id = any($2::bigint[])
  and not key = any($3::text[])
  returning key`)

/** Ends the use of files by messages, all or all but some; files that no message uses then are served no more. */
export async function releaseUses(
  on: Queryable,
  appId: number,
  messageIds: readonly number[],
  except: readonly string[] = [],
): Promise<void> {
  const released = await on.query<{ key: string }>(remove, [appId, messageIds, except])
  await removeUnused(on, appId, [...new Set(released.map(({ key }) => key))])
}

/**
 * Ends the use of files by all of some messages, as one statement for those who remove a user or a group with theirs.
 * @param messages a subquery of message ids, in parentheses
 */
export function releaseUsesOf(appId: number, messages: Fragment): Fragment {
  return sql`
    with released as (
      delete from media_uses
      where app_id = ${appKey(appId)}
      and message_id in ${messages}
      returning key
    )
    update media_files f
    set removed_at = extract(epoch from now())::bigint
    where f.app_id = ${appKey(appId)}
    and f.removed_at is null
    and f.key in (select key from released)
    and not exists (
      select from media_uses u
      where u.app_id = f.app_id
      and u.key = f.key
      and u.message_id not in ${messages}
    )`
}
