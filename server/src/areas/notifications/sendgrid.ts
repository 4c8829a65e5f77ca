import {
  type BodyOf,
  badRequest,
  flawOfReplyMailbox,
  type SendGridProvider,
  type saveSendGridProvider,
  type updateSendGridProvider,
} from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import { replyMailboxOf, type SendGridTarget } from '../../chat/notifications/credentials.ts'
import type { ProviderRow } from '../../chat/notifications/providers.ts'
import { newRepliesSecret, repliesWebhookOf } from '../../chat/notifications/replies-webhook.ts'
import type { Context } from '../../context.ts'
import type { Secrets } from '../../store/secrets.ts'
import { given, secretOf, secretsOf, shorten } from './secrets.ts'
import { changeSingle, findSingle, type Slot, saveSingle } from './single-provider.ts'

export const sendGrid: Slot = { channel: 'email', kind: 'sendgrid', what: 'SendGrid credentials' }

type Kept = Pick<SendGridTarget, 'sendGridApiKey' | 'repliesSecret'>
type Settings = Omit<SendGridTarget, keyof Kept>

export async function getSendGrid({ database, secrets }: Context, app: App): Promise<SendGridProvider> {
  const row = await findSingle(database, app, sendGrid)
  return row === undefined ? {} : show(secrets, row)
}

function show(secrets: Secrets, row: ProviderRow): SendGridProvider {
  const { senderEmailForReplies, ...settings } = row.settings as unknown as Settings
  return {
    ...settings,
    ...(senderEmailForReplies && { senderEmailForReplies }),
    sendGridApiKey: shorten(secretsOf<Kept>(secrets, row).sendGridApiKey),
    isEnabled: row.enabled,
  }
}

/** With the address for replies, which whoever sets it up passes on. */
function showSaved({ secrets }: Context, app: App, origin: string, row: ProviderRow): SendGridProvider {
  const { repliesSecret } = secretsOf<Kept>(secrets, row)
  return { ...show(secrets, row), repliesWebhook: repliesWebhookOf(origin, app, repliesSecret) }
}

/** Sets it up, or changes it; it keeps its address for replies. @throws 400 naming what is wrong */
export async function saveSendGrid(
  context: Context,
  app: App,
  origin: string,
  body: BodyOf<typeof saveSendGridProvider>,
): Promise<SendGridProvider> {
  const { isEnabled, sendGridApiKey: sent, allowEmailReplies = false, senderEmailForReplies = null, ...members } = body
  const settings: Settings = { ...members, allowEmailReplies, senderEmailForReplies }
  check(settings)
  const saved = await saveSingle(context, app, sendGrid, (row) => {
    const present = row && secretsOf<Kept>(context.secrets, row)
    const sendGridApiKey = secretOf(sent, present?.sendGridApiKey ?? '')
    const secrets: Kept = { sendGridApiKey, repliesSecret: present?.repliesSecret ?? newRepliesSecret() }
    return { enabled: isEnabled ?? row?.enabled ?? true, settings, secrets }
  })
  return showSaved(context, app, origin, saved)
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND`, 400 naming what is wrong */
export async function changeSendGrid(
  context: Context,
  app: App,
  origin: string,
  { isEnabled, sendGridApiKey: sent, ...members }: BodyOf<typeof updateSendGridProvider>,
): Promise<SendGridProvider> {
  const saved = await changeSingle(context, app, sendGrid, (row) => {
    const present = secretsOf<Kept>(context.secrets, row)
    const settings = { ...(row.settings as unknown as Settings), ...given(members) }
    check(settings)
    const secrets: Kept = { ...present, sendGridApiKey: secretOf(sent, present.sendGridApiKey) }
    return { enabled: isEnabled ?? row.enabled, settings, secrets }
  })
  return showSaved(context, app, origin, saved)
}

/** @returns the address for replies from now on. @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export async function renewReplies(context: Context, app: App, origin: string): Promise<string> {
  const repliesSecret = newRepliesSecret()
  await changeSingle(context, app, sendGrid, (row) => {
    const secrets: Kept = { ...secretsOf<Kept>(context.secrets, row), repliesSecret }
    return { enabled: row.enabled, settings: row.settings, secrets }
  })
  return repliesWebhookOf(origin, app, repliesSecret)
}

/** A token must fit into the addresses that replies go to. */
function check(settings: Settings): void {
  const mailbox = replyMailboxOf(settings)
  const message = mailbox === undefined ? undefined : flawOfReplyMailbox(mailbox)
  if (message === undefined) return
  const name = settings.senderEmailForReplies ? 'senderEmailForReplies' : 'senderEmail'
  throw badRequest([{ path: `body/${name}`, message }])
}
