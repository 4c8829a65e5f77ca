import type { Secrets } from '../../store/secrets.ts'
import type { Snapshot } from './snapshot.ts'

/** What is sealed in a row that an export has in the open: `column` of the row of `table` that `key` names. */
export interface SealedColumn {
  readonly table: string
  readonly key: Readonly<Record<string, string>>
  readonly column: string
  readonly value: string
}

/** A record of the secrets of an app, opened. */
export type SecretRecord =
  | ({ readonly kind: 'sealed' } & SealedColumn)
  | {
      readonly kind: 'apiKey'
      readonly apiKey: string
      readonly name: string
      readonly scope: string
      readonly createdAt: number
      /** The first of the keys of the export that it shares its users with, where that is another. */
      readonly origin?: string
    }
  | {
      readonly kind: 'authToken'
      readonly uid: string
      readonly authToken: string
      readonly platform: string | null
      readonly userAgent: string | null
      readonly appInfo: unknown
      readonly createdAt: number
      readonly usedAt: number | null
    }
  | {
      readonly kind: 'pushToken'
      readonly uid: string
      readonly token: string
      readonly authToken: string
      /** Channel, kind and id of the provider. */
      readonly provider: readonly [string, string, string]
      readonly platform: string
      readonly type: string
      readonly createdAt: number
      readonly updatedAt: number
    }
  /** Who was created by which key: an authOnly key may be confined to those. */
  | { readonly kind: 'createdBy'; readonly uid: string; readonly apiKey: string }

/** Sealed columns of tables, with the columns that name a row. */
export const sealedColumns: ReadonlyArray<{
  table: string
  key: readonly string[]
  columns: readonly string[]
  order: string
}> = [
  { table: 'notification_providers', key: ['channel', 'kind', 'id'], columns: ['sealed'], order: 'key' },
  {
    ...{ table: 'webhooks', key: ['id'], order: 'key' },
    columns: ['password_sealed', 'secret_sealed', 'old_secret_sealed'],
  },
  { table: 'moderation_engines', key: ['engine'], columns: ['key_sealed'], order: 'engine' },
  {
    ...{ table: 'moderation_list_revisions', key: ['list_id', 'revision'], order: 'list_id, revision' },
    columns: ['password_sealed'],
  },
]

/** Rows are named by their columns; bytes come as hexadecimal text of the database. */
type Rows = AsyncIterable<readonly (readonly (string | null)[])[]>

/** Of keys that took the place of one another, the first that there still is. */
const firstKeys = `
  select distinct on (coalesce(origin, digest)) coalesce(origin, digest) as origin, sealed
  from api_keys
  where app_id = $1
  order by coalesce(origin, digest), ordinal`

/** As which key users are noted, and the origin of the keys that have them. Processes of older versions noted the key itself. */
const creators = `
  select distinct coalesce(origin, digest) as origin,
    unnest(array[origin, digest] || predecessors) as key
  from api_keys
  where app_id = $1`

/** Reads every secret of an app, opened. */
export async function* readSecrets(
  snapshot: Snapshot,
  appId: number,
  secrets: Pick<Secrets, 'unseal'>,
): AsyncIterable<SecretRecord> {
  const open = (text: string | null | undefined) => secrets.unseal(bytesOf(text as string))
  const number = (text: string | null | undefined) => (text === null || text === undefined ? null : Number(text))
  for await (const [sealed, name, scope, createdAt, first] of each(
    snapshot.read(
      `select k.sealed, k.name, k.scope, k.created_at, f.sealed
        from api_keys k
        join (${firstKeys}) f on f.origin = coalesce(k.origin, k.digest)
        where k.app_id = $1
        order by k.ordinal`,
      appId,
    ),
  )) {
    const rest = { name: name as string, scope: scope as string, createdAt: number(createdAt) as number }
    const [apiKey, origin] = [open(sealed), open(first)]
    yield { kind: 'apiKey', apiKey, ...rest, ...(origin !== apiKey && { origin }) }
  }
  for await (const [uid, sealed, platform, userAgent, appInfo, createdAt, usedAt] of each(
    snapshot.read(
      `select uid, sealed, platform, user_agent, app_info, created_at, used_at
        from auth_tokens where app_id = $1 order by ordinal`,
      appId,
    ),
  )) {
    yield {
      ...{ kind: 'authToken', uid: uid as string, authToken: open(sealed) },
      ...{ platform: platform ?? null, userAgent: userAgent ?? null },
      appInfo: appInfo === null || appInfo === undefined ? null : JSON.parse(appInfo),
      ...{ createdAt: number(createdAt) as number, usedAt: number(usedAt) },
    }
  }
  for await (const [uid, sealed, auth, channel, kind, id, platform, type, createdAt, updatedAt] of each(
    snapshot.read(
      `select d.uid, d.sealed, a.sealed, n.channel, n.kind, n.id, d.platform, d.type, d.created_at, d.updated_at
        from push_tokens d
        join notification_providers n on n.app_id = d.app_id and n.key = d.provider
        join auth_tokens a on a.app_id = d.app_id and a.digest = d.auth_digest
        where d.app_id = $1
        order by d.uid, d.created_at, n.key, d.platform, a.ordinal`,
      appId,
    ),
  )) {
    yield {
      ...{ kind: 'pushToken', uid: uid as string, token: open(sealed), authToken: open(auth) },
      provider: [channel, kind, id] as [string, string, string],
      ...{ platform: platform as string, type: type as string },
      ...{ createdAt: number(createdAt) as number, updatedAt: number(updatedAt) as number },
    }
  }
  for await (const [uid, sealed] of each(
    snapshot.read(
      `select u.uid, k.sealed
        from users u
        join (${creators}) c on c.key = u.created_by_key
        join (${firstKeys}) k on k.origin = c.origin
        where u.app_id = $1
        order by u.uid`,
      appId,
    ),
  )) {
    yield { kind: 'createdBy', uid: uid as string, apiKey: open(sealed) }
  }
  for (const { table, key, columns, order } of sealedColumns) {
    const wanted = [...key, ...columns].join(', ')
    for await (const row of each(
      snapshot.read(`select ${wanted} from ${table} where app_id = $1 order by ${order}`, appId),
    )) {
      const named = Object.fromEntries(key.map((column, i) => [column, row[i] as string]))
      for (const [i, column] of columns.entries()) {
        const sealed = row[key.length + i]
        // An export without its secrets leaves this behind where there must be something.
        if (sealed === null || sealed === undefined || sealed === '\\x') continue
        yield { kind: 'sealed', table, key: named, column, value: open(sealed) }
      }
    }
  }
}

async function* each(pages: Rows): AsyncIterable<readonly (string | null)[]> {
  for await (const page of pages) yield* page
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex')
}
