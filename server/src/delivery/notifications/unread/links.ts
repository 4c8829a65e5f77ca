import type { UnreadChannel } from '@parley/contract'
import { replyMailboxOf, type SendGridTarget } from '../../../chat/notifications/credentials.ts'
import type { ProviderRow } from '../../../chat/notifications/providers.ts'
import { replyAddressOf } from '../../../chat/notifications/reply-address.ts'
import { unsubscribeLinkOf } from '../../../chat/notifications/unsubscribing.ts'
import type { Database } from '../../../store/database.ts'
import type { Secrets } from '../../../store/secrets.ts'

export interface LinksOptions {
  readonly database: Database
  readonly secrets: Secrets
  /** Where people reach the service, such as `https://chat.example.com`; undefined: nobody knows. */
  readonly publicUrl: string | undefined
  /** Where replies to e-mails by the operator's mail server go; undefined: nowhere. */
  readonly replyMailbox: string | undefined
}

/** Ways from an e-mail or an SMS back to the chat. */
export interface Links {
  readonly unsubscribeLink?: string
  readonly replyTo?: string
}

interface Correspondent {
  readonly appId: number
  readonly uid: string
  readonly channel: UnreadChannel
  readonly conversation: number
}

/** @param now epoch milliseconds */
export async function linksOf(
  { database, secrets, publicUrl, replyMailbox }: LinksOptions,
  provider: ProviderRow,
  { appId, uid, channel, conversation }: Correspondent,
  now: number,
): Promise<Links> {
  const mailbox = mailboxOf(provider, replyMailbox)
  const [unsubscribeLink, replyTo] = await Promise.all([
    publicUrl === undefined ? undefined : unsubscribeLinkOf(database, secrets, publicUrl, { appId, uid, channel }),
    mailbox === undefined ? undefined : replyAddressOf(database, secrets, mailbox, { appId, uid, conversation }, now),
  ])
  return { ...(unsubscribeLink !== undefined && { unsubscribeLink }), ...(replyTo !== undefined && { replyTo }) }
}

/** Where replies go to; undefined where none are taken. */
function mailboxOf({ kind, settings }: ProviderRow, ofMailServer: string | undefined): string | undefined {
  if (kind === 'smtp') return ofMailServer
  return kind === 'sendgrid' ? replyMailboxOf(settings as unknown as SendGridTarget) : undefined
}
