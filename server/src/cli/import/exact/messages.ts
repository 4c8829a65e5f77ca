import { addEntries, passIds } from '../../../areas/messages/index.ts'
import { heldTraits } from '../../../chat/messages/traits.ts'
import { plainArray } from '../../../store/arrays.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import type { ExportedRecord } from './insertion.ts'

interface ExportedReaction {
  readonly reaction: string
  readonly uid: string
  readonly reactedAt: number
}

const insertReactions = statement(`
  insert into reactions (app_id, message_id, reaction, uid, reacted_at)
  select $1, r.message_id, r.reaction, r.uid, r.reacted_at
  from unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[]) with ordinality
    as r(message_id, reaction, uid, reacted_at, place)
  order by r.place`)

/** Has what is sent later get ids beyond those of the records. Before they are stored. */
export async function passIdsOf(tx: Transaction, records: readonly ExportedRecord[]): Promise<void> {
  if (records.length > 0) await passIds(tx, Math.max(...records.map(({ id }) => Number(id))))
}

/** Stores what hangs on messages in tables of their own: who reacted, and what searches find. After the messages. */
export async function storeAround(tx: Transaction, appId: number, records: readonly ExportedRecord[]): Promise<void> {
  const given = records.flatMap(({ id, reactions = [] }) =>
    (reactions as ExportedReaction[]).map((reaction) => ({ id: Number(id), ...reaction })),
  )
  if (given.length > 0) {
    await tx.query(insertReactions, [
      appId,
      plainArray(given.map(({ id }) => id)),
      given.map(({ reaction }) => reaction),
      given.map(({ uid }) => uid),
      plainArray(given.map(({ reactedAt }) => reactedAt)),
    ])
  }
  const found = records.filter(isFound)
  if (found.length === 0) return
  const keys = await tx.query<{ id: number; conversation: number }>(selectKeys, [
    appId,
    plainArray(found.map(({ id }) => Number(id))),
  ])
  const conversations = new Map(keys.map(({ id, conversation }) => [id, conversation]))
  await addEntries(
    tx,
    found.map(({ id, data }) => ({
      ...{ appId, id: Number(id), conversation: conversations.get(Number(id)) as number },
      data: data as Record<string, unknown>,
    })),
  )
}

const selectKeys = statement('select id, conversation from messages where app_id = $1 and id = any($2::bigint[])')

function isFound({ deletedAt, category, traits }: ExportedRecord): boolean {
  return deletedAt === undefined && category !== 'action' && (Number(traits) & heldTraits) === 0
}
