import type { BodyOf, ContactDetails, Unsubscription, updateContactDetails } from '@parley/contract'
import { readKind } from '../../chat/kind.ts'
import { conversationId } from '../../chat/naming.ts'
import { endCorrespondences } from '../../chat/notifications/reply-address.ts'
import { lockUser } from '../../chat/users/locks.ts'
import type { Context } from '../../context.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

interface ContactRow {
  readonly email: string | null
  readonly phone: string | null
}

const select = statement(`
  select email, phone
  from notification_contacts
  where app_id = $1
  and uid = $2`)

export async function readContacts(on: Queryable, appId: number, uid: string): Promise<ContactDetails> {
  const [row] = await on.query<ContactRow>(select, [appId, uid])
  return showContacts(row)
}

function showContacts(row: ContactRow | undefined): ContactDetails {
  return { ...(row?.email && { email: row.email }), ...(row?.phone && { phno: row.phone }) }
}

/** An address that is given again is tried again, also if its provider has refused it. */
const write = statement(`
  insert into notification_contacts as k (app_id, uid, email, phone)
  values ($1, $2, $3, $4)
  on conflict (app_id, uid) do update
  set email = excluded.email,
    phone = excluded.phone,
    refused_email = case when not $5 then k.refused_email end,
    refused_phone = case when not $6 then k.refused_phone end`)

const remove = statement(`
  delete from notification_contacts
  where app_id = $1
  and uid = $2`)

/** Changes what is sent, and removes what is null. */
export function changeContacts(
  { database }: Pick<Context, 'database'>,
  appId: number,
  uid: string,
  { email, phno }: BodyOf<typeof updateContactDetails>,
): Promise<ContactDetails> {
  return database.transaction(async (tx) => {
    const row = await holdContacts(tx, appId, uid)
    const next = {
      email: email === undefined ? (row?.email ?? null) : email,
      phone: phno === undefined ? (row?.phone ?? null) : phno,
    }
    if (next.email === null && next.phone === null) await tx.query(remove, [appId, uid])
    else {
      const values = [appId, uid, next.email, next.phone, email !== undefined, phno !== undefined]
      await tx.query(write, values)
    }
    // Who has the mailbox from before can no longer speak as this user.
    if (row?.email && row.email !== next.email) await endCorrespondences(tx, appId, [uid])
    return showContacts(next)
  })
}

export async function removeContacts(
  { database }: Pick<Context, 'database'>,
  appId: number,
  uid: string,
): Promise<void> {
  await database.transaction(async (tx) => {
    const row = await holdContacts(tx, appId, uid)
    await tx.query(remove, [appId, uid])
    if (row?.email) await endCorrespondences(tx, appId, [uid])
  })
}

async function holdContacts(tx: Transaction, appId: number, uid: string): Promise<ContactRow | undefined> {
  // Whoever is removed meanwhile leaves nothing behind.
  await lockUser(tx, appId, uid)
  return (await tx.query<ContactRow>(select, [appId, uid]))[0]
}

const selectUnsubscriptions = statement(`
  select n.channel, n.since, n.conversation is not null as "isOfOne", c.kind, c.first, c.second
  from notification_unsubscriptions n
  left join conversations c on c.app_id = n.app_id and c.key = n.conversation
  where n.app_id = $1
  and n.uid = $2
  order by n.since, n.channel, n.conversation nulls first`)

interface UnsubscriptionRow extends Pick<Unsubscription, 'channel' | 'since'> {
  readonly isOfOne: boolean
  readonly kind: number
  readonly first: string
  readonly second: string
}

export async function listUnsubscriptions(on: Queryable, appId: number, uid: string): Promise<Unsubscription[]> {
  const rows = await on.query<UnsubscriptionRow>(selectUnsubscriptions, [appId, uid])
  return rows.map(({ channel, since, isOfOne, kind, first, second }) => ({
    ...{ channel, since },
    ...(isOfOne && { conversationId: conversationId(readKind(kind), first, second) }),
  }))
}

const removeUnsubscriptions = statement(`
  delete from notification_unsubscriptions
  where app_id = $1
  and uid = $2
  and ($3::text is null or channel = $3)`)

/** @param channel absent: of all */
export async function removeUnsubscriptionsOf(
  on: Queryable,
  appId: number,
  uid: string,
  channel: Unsubscription['channel'] | undefined,
): Promise<void> {
  await on.query(removeUnsubscriptions, [appId, uid, channel ?? null])
}
