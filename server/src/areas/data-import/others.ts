import {
  ApiError,
  checkImportOther,
  type ImportOther,
  ignoredInOther,
  readOptionalTime,
  summariseImportFlaws,
} from '@parley/contract'
import { lockApp, systemUid } from '../../chat/apps.ts'
import { lockConversations } from '../../chat/conversations/membership.ts'
import { makeWellFormed } from '../../chat/json.ts'
import { traits } from '../../chat/messages/traits.ts'
import { notHeldIn } from '../../chat/sight/participation.ts'
import { unknownUser } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import { mapInTurns } from '../../pauses.ts'
import { plainArray, textArray } from '../../store/arrays.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { importKey } from '../api-keys/index.ts'
import { importToken } from '../auth-tokens/index.ts'
import * as errors from './errors.ts'
import { forgetErasedHands, handOf } from './hands.ts'
import { holdUsers } from './memberships.ts'
import { type Known, type NamedMessage, partsOf } from './named.ts'
import { type Failure, type Outcome, refuse, stored } from './outcomes.ts'
import { writeState } from './states.ts'

type OutcomeOfOther = Outcome<{ kind: string }>

/**
 * Imports records that belong to users, groups and messages which are there. In one transaction, in their order; each is
 * refused or stored on its own.
 * @param sent the member of the body that holds them
 * @throws 400 when there are no records to read, or more than a request may have; then nothing is stored
 */
export async function importOthers(
  context: Context,
  appId: number,
  sent: unknown,
  most: number,
  onBegin: (records: number) => Promise<void>,
): Promise<Record<string, OutcomeOfOther>> {
  if (typeof sent !== 'object' || sent === null) throw errors.unreadableOthers(sent)
  const keys = Array.isArray(sent) ? sent.map((_, place) => `[${place}]`) : Object.keys(sent)
  if (keys.length > most) throw errors.tooManyRecords('records', keys.length, most)
  const now = Math.floor(Date.now() / 1000)
  const outcomes = await mapInTurns(
    Object.values(sent) as readonly unknown[],
    (record): OutcomeOfOther | ImportOther => {
      makeWellFormed(record)
      const flaws = checkImportOther(record, { now })
      if (flaws.length === 0) return record as ImportOther
      const { code, devMessage, details } = summariseImportFlaws(flaws)
      return refuse(new ApiError(code, devMessage, details))
    },
  )
  const sound = outcomes.filter((outcome) => 'kind' in outcome)
  if (sound.length > 0) await onBegin(sound.length)
  const results = sound.length === 0 ? [] : await storeOthers(context, appId, sound, now)
  let next = 0
  return Object.fromEntries(
    outcomes.map((outcome, place) => {
      const key = (keys[place] as string).toWellFormed()
      if (!('kind' in outcome)) return [key, outcome]
      const ignored = ignoredInOther(outcome)
      const result = results[next++] as OutcomeOfOther
      return [key, result.success && ignored.length > 0 ? { ...result, ignored } : result]
    }),
  )
}

function storeOthers(
  context: Context,
  appId: number,
  records: readonly ImportOther[],
  now: number,
): Promise<OutcomeOfOther[]> {
  return context.database.transaction(async (tx) => {
    if (records.some(({ kind }) => kind === 'apiKey')) await lockApp(tx, appId)
    const hands = records.flatMap((record) => (record.kind === 'pin' ? handOf(record.pinnedBy) : []))
    const users = await holdUsers(tx, appId, [...records.flatMap(uidsOf), ...hands])
    const asStored = await forgetErasedHands(tx, context.secrets, appId, hands, users)
    const found = await findMessages(tx, appId, records)
    const conversations = await findConversations(tx, appId, records)
    const locked = new Set([...conversations.values(), ...found.map(({ conversation }) => conversation)])
    await lockConversations(tx, appId, [...locked])
    // What was removed while the locks were waited for is missing now.
    const messages = await findMessages(tx, appId, records)
    const byId = new Map(messages.map((message) => [message.id, message]))
    const byMuid = new Map(messages.filter(({ imported }) => imported).map((message) => [message.muid, message]))
    const known: Known = {
      ...{ appId, now, users, conversations },
      message: ({ messageId, muid }) => {
        const message = messageId === undefined ? byMuid.get(muid ?? null) : byId.get(Number(messageId))
        return message !== undefined && locked.has(message.conversation) ? message : undefined
      },
    }
    const outcomes: OutcomeOfOther[] = []
    for (const record of records) {
      const refusal = await storeOther(context, tx, known, record, asStored)
      outcomes.push(refusal ?? stored({ kind: record.kind }))
    }
    return outcomes
  })
}

async function storeOther(
  context: Context,
  tx: Transaction,
  known: Known,
  record: ImportOther,
  asStored: (uid: string) => string,
): Promise<Failure | undefined> {
  const missing = uidsOf(record).find((uid) => !known.users.has(uid) || uid === systemUid)
  if (missing !== undefined) return refuse(unknownUser(missing))
  const at = (time: unknown) => readOptionalTime(time) ?? known.now
  const { appId } = known
  const insertOnce = async (insert: typeof inserts.friend, values: readonly unknown[]) => {
    const rows = await tx.query(insert, [appId, ...values])
    return rows.length === 0 ? refuse(errors.othersExist(record.kind)) : undefined
  }
  switch (record.kind) {
    case 'friend': {
      const [uid, friend] = [record.uid.toLowerCase(), record.friend.toLowerCase()]
      return insertOnce(inserts.friend, [uid, friend, at(record.createdAt)])
    }
    case 'block': {
      const [uid, blocked] = [record.uid.toLowerCase(), record.blocked.toLowerCase()]
      return insertOnce(inserts.block, [uid, blocked, at(record.blockedAt)])
    }
    case 'subscription': {
      const message = known.message(record)
      if (message === undefined || message.parentId !== null) return refuse(errors.noSuchMessage(record))
      await tx.query(setTrait, [appId, message.id, traits.followed])
      return insertOnce(inserts.subscription, [record.uid.toLowerCase(), message.id, at(record.subscribedAt)])
    }
    case 'save': {
      const message = known.message(record)
      if (message === undefined || message.isNothing) return refuse(errors.noSuchMessage(record))
      await tx.query(setTrait, [appId, message.id, traits.saved])
      return insertOnce(inserts.save, [record.uid.toLowerCase(), message.id, at(record.savedAt)])
    }
    case 'pin': {
      const message = known.message(record)
      if (message === undefined || message.isNothing) return refuse(errors.noSuchMessage(record))
      await tx.query(setTrait, [appId, message.id, traits.pinned])
      const by = asStored(handOf(record.pinnedBy))
      return insertOnce(inserts.pin, [message.conversation, message.id, by, at(record.pinnedAt)])
    }
    case 'conversation':
      return writeState(tx, known, record)
    case 'authToken': {
      const verdict = await importToken(
        context,
        tx,
        appId,
        { ...record, uid: record.uid.toLowerCase() },
        at(record.createdAt),
      )
      if (verdict === 'ofAnother') return refuse(errors.tokenOfAnother(record.uid))
      return verdict === 'known' ? refuse(errors.othersExist(record.kind)) : undefined
    }
    case 'apiKey': {
      const verdict = await importKey(context, tx, appId, record, at(record.createdAt))
      if (verdict === 'known') return refuse(errors.othersExist(record.kind))
      return verdict === undefined ? undefined : refuse(verdict)
    }
  }
}

/** Those without whom a record is refused. */
function uidsOf(record: ImportOther): string[] {
  if (record.kind === 'apiKey') return []
  if (record.kind === 'pin') return []
  const other = record.kind === 'friend' ? record.friend : record.kind === 'block' ? record.blocked : undefined
  return [record.uid, ...(other === undefined ? [] : [other])].map((uid) => uid.toLowerCase())
}

const inserts = {
  friend: statement(`
    insert into friends (app_id, uid, friend, created_at)
    values ($1::int, $2::text, $3::text, $4::bigint), ($1, $3, $2, $4)
    on conflict do nothing
    returning uid`),
  block: statement(`
    insert into blocks (app_id, blocker, blocked, blocked_at)
    values ($1, $2, $3, $4)
    on conflict do nothing
    returning blocker`),
  subscription: statement(`
    insert into thread_subscriptions (app_id, uid, parent_id, subscribed_at)
    values ($1, $2, $3, $4)
    on conflict do nothing
    returning uid`),
  save: statement(`
    insert into saved_messages (app_id, uid, message_id, saved_at)
    values ($1, $2, $3, $4)
    on conflict do nothing
    returning uid`),
  pin: statement(`
    insert into pinned_messages (app_id, conversation, message_id, pinned_by, pinned_at)
    values ($1, $2, $3, $4, $5)
    on conflict do nothing
    returning message_id`),
} as const

const setTrait = statement(`
  update messages
  set traits = traits | $3::int
  where app_id = $1
  and id = $2
  and traits & $3::int = 0`)

const columns = `m.id, m.muid, m.imported, m.conversation, m.sent_at as "sentAt", m.parent_id as "parentId",
    (m.category = 'action' or m.deleted_at is not null) as "isNothing"`
const isThere = `not m.purged and ${notHeldIn('m')}`

const selectMessages = statement(`
  select ${columns}
  from messages m
  where m.app_id = $1
  and m.id = any($2::bigint[])
  and ${isThere}
  union all
  select ${columns}
  from messages m
  where m.app_id = $1
  and m.muid = any($3::text[])
  and m.imported
  and ${isThere}`)

interface Named {
  readonly messageId?: number | string
  readonly muid?: string
}

function placesOf(record: ImportOther): Named[] {
  if (record.kind !== 'conversation') return [record as Named]
  const { delivered, read, unreadFrom, reset, joined } = record
  return [delivered, read, unreadFrom, reset, joined].filter((place) => place !== undefined) as Named[]
}

async function findMessages(tx: Transaction, appId: number, records: readonly ImportOther[]): Promise<NamedMessage[]> {
  const places = records.flatMap(placesOf)
  const ids = places.flatMap(({ messageId }) => (messageId === undefined ? [] : [Number(messageId)]))
  const muids = places.flatMap(({ messageId, muid }) => (messageId !== undefined || muid === undefined ? [] : [muid]))
  if (ids.length === 0 && muids.length === 0) return []
  return tx.query<NamedMessage>(selectMessages, [appId, plainArray([...new Set(ids)]), textArray([...new Set(muids)])])
}

const selectConversations = statement(`
  select c.key, wanted.kind || ' ' || wanted.first || ' ' || wanted.second as name
  from unnest($2::int[], $3::text[], $4::text[]) as wanted(kind, first, second)
  join conversations c on c.app_id = $1 and c.kind = wanted.kind and c.first = wanted.first and c.second = wanted.second`)

async function findConversations(
  tx: Transaction,
  appId: number,
  records: readonly ImportOther[],
): Promise<Map<string, number>> {
  const parts = records.flatMap((record) => (record.kind === 'conversation' ? [partsOf(record)] : []))
  if (parts.length === 0) return new Map()
  const rows = await tx.query<{ key: number; name: string }>(selectConversations, [
    appId,
    parts.map(([kind]) => kind),
    parts.map(([, first]) => first),
    parts.map(([, , second]) => second),
  ])
  return new Map(rows.map(({ key, name }) => [name, key]))
}
