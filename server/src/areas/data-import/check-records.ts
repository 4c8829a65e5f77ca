import { type CheckedRecord, type ImportKind, importChecks, summariseImportFlaws } from '@parley/contract'
import { messageErased, readErased, userErased } from '../../chat/users/erased.ts'
import type { Queryable } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { type Statement, statement } from '../../store/statement.ts'
import { type Links, linksOf, type Reference } from './links.ts'
import { takeAll } from './taken.ts'

type Name = Pick<Reference, 'collection' | 'id'>

const finders: Readonly<Record<Reference['collection'] | 'messages' | 'members', Statement>> = {
  users: statement('select uid as id from users where app_id = $1 and uid = any($2::text[])'),
  groups: statement('select guid as id from groups where app_id = $1 and guid = any($2::text[])'),
  roles: statement('select role as id from roles where app_id = $1 and role = any($2::text[])'),
  members: statement(`
    select m.guid || '/' || m.uid as id
    from unnest($2::text[]) as wanted(id)
    join group_members m on m.app_id = $1
      and m.guid = split_part(wanted.id, '/', 1)
      and m.uid = split_part(wanted.id, '/', 2)`),
  // Sent and imported messages have an index of their own each.
  messages: statement(`
    select m.muid as id from messages m where m.app_id = $1 and m.muid = any($2::text[]) and m.imported
    union
    select m.muid from messages m where m.app_id = $1 and m.muid = any($2::text[]) and not m.imported`),
}

const existsCodes = {
  users: 'ERR_UID_ALREADY_EXISTS',
  groups: 'ERR_GUID_ALREADY_EXISTS',
  members: 'ERR_ALREADY_JOINED',
  messages: 'ERR_IMPORT_MUID_ALREADY_EXISTS',
} as const satisfies Record<ImportKind, string>

/** What a record is of, as answers name it. Members are named by their group and user. */
function idOf(kind: ImportKind, record: Readonly<Record<string, unknown>>): string {
  if (kind === 'messages') return String(record.muid)
  if (kind === 'members') return `${record.guid}/${record.uid}`.toLowerCase()
  return String(kind === 'users' ? record.uid : record.guid).toLowerCase()
}

/** Looks what an import would make of records. Nothing is stored. */
export async function checkRecords(
  on: Queryable,
  secrets: Secrets,
  appId: number,
  kind: ImportKind,
  records: readonly unknown[],
): Promise<CheckedRecord[]> {
  const now = Math.floor(Date.now() / 1000)
  const taken = takeAll(kind, records)
  const checked = taken.map(({ record: sent, ignored }) => {
    const flaws = importChecks[kind](sent, { now })
    if (flaws.length > 0) return { flaws, ignored }
    const record = sent as Readonly<Record<string, unknown>>
    return { flaws, ignored, id: idOf(kind, record), links: linksOf(kind, record) }
  })
  const there = await findThere(on, appId, [
    ...checked.flatMap(({ id }) => (id === undefined ? [] : [{ collection: kind, id }])),
    ...checked.flatMap(({ links }) => links?.needed ?? []),
  ])
  const erased = await findErased(on, secrets, appId, kind, checked)
  return checked.map(({ flaws, ignored, id, links }, place): CheckedRecord => {
    if (id === undefined || links === undefined) {
      const { code, devMessage } = summariseImportFlaws(flaws)
      return { state: 'refused', code, reason: devMessage, makes: [], missing: [] }
    }
    const name = nameOf({ collection: kind, id })
    const recreates =
      kind === 'users' && (taken[place]?.record as { recreate?: unknown } | undefined)?.recreate === true
    if (erased.has(name) && !there.has(name) && !recreates) {
      const { code, devMessage } = kind === 'users' ? userErased(id) : messageErased(id)
      return { state: 'refused', code, reason: devMessage, makes: [], missing: [] }
    }
    const isMade = (made: Name) => recreates || there.has(nameOf(made)) || !erased.has(nameOf(made))
    const isKnown = there.has(name)
    return {
      state: isKnown ? 'known' : 'good',
      ...(isKnown && { code: existsCodes[kind] }),
      name,
      ...(ignored.length > 0 && { ignored: [...ignored] }),
      makes: [...new Set(links.made.filter(isMade).map(nameOf))],
      missing: isKnown
        ? []
        : links.needed
            .filter((reference) => !there.has(nameOf(reference)))
            .map((reference) => ({ name: nameOf(reference), path: reference.path })),
    }
  })
}

function nameOf({ collection, id }: { readonly collection: string; readonly id: string }): string {
  return `${collection}/${id}`
}

/** Names of users and messages among those of records that were erased. */
async function findErased(
  on: Queryable,
  secrets: Secrets,
  appId: number,
  kind: ImportKind,
  checked: ReadonlyArray<{ readonly id?: string; readonly links?: Links }>,
): Promise<ReadonlySet<string>> {
  const made = checked.flatMap(({ links }) => links?.made ?? [])
  const uids = made.filter(({ collection }) => collection === 'users').map(({ id }) => id)
  const muids = kind === 'messages' ? checked.flatMap(({ id }) => id ?? []) : []
  const erasedUids = await readErased(on, secrets, appId, 'uid', uids)
  const erasedMuids = await readErased(on, secrets, appId, 'muid', muids)
  return new Set([
    ...[...erasedUids].map((id) => nameOf({ collection: 'users', id })),
    ...[...erasedMuids].map((id) => nameOf({ collection: 'messages', id })),
  ])
}

async function findThere(
  on: Queryable,
  appId: number,
  names: ReadonlyArray<Name | { readonly collection: ImportKind; readonly id: string }>,
): Promise<Set<string>> {
  const there = new Set<string>()
  for (const collection of Object.keys(finders) as (keyof typeof finders)[]) {
    const ids = [...new Set(names.filter((name) => name.collection === collection).map(({ id }) => id))]
    if (ids.length === 0) continue
    const rows = await on.query<{ id: string }>(finders[collection], [appId, ids])
    for (const { id } of rows) there.add(nameOf({ collection, id }))
  }
  return there
}
