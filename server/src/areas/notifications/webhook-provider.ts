import { badRequest } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { WebhookTarget } from '../../chat/notifications/credentials.ts'
import type { ProviderRow } from '../../chat/notifications/providers.ts'
import type { Context } from '../../context.ts'
import type { Secrets } from '../../store/secrets.ts'
import { checkAddress, makeSecret } from '../webhooks/index.ts'
import { given, secretOf, secretsOf, shorten } from './secrets.ts'
import { changeSingle, findSingle, type Slot, saveSingle } from './single-provider.ts'

/** What a webhook is set up with, beside members of its channel. */
interface Sent {
  readonly isEnabled: boolean
  readonly webhookURL: string
  readonly useBasicAuth: boolean
  readonly basicAuthUsername: string
  readonly basicAuthPassword: string
}

type Kept = Pick<WebhookTarget, 'basicAuthPassword' | 'signing'>

/** The app's own provider of a channel, without its signing secret; undefined where there is none. */
export async function getWebhook<Shown extends Sent>(
  { database, secrets }: Pick<Context, 'database' | 'secrets'>,
  app: App,
  slot: Slot,
): Promise<Shown | undefined> {
  const row = await findSingle(database, app, slot)
  return row && show<Shown>(secrets, row)
}

function show<Shown extends Sent>(secrets: Secrets, row: ProviderRow): Shown {
  const { basicAuthPassword } = secretsOf<Kept>(secrets, row)
  return { isEnabled: row.enabled, ...row.settings, basicAuthPassword: shorten(basicAuthPassword) } as unknown as Shown
}

/** Sets it up, or changes it; it keeps its signing secret. @throws 400 naming what is wrong */
export async function saveWebhook<Body extends Sent>(
  context: Context,
  app: App,
  slot: Slot,
  body: Body,
): Promise<Body> {
  checkCredentials(body)
  await checkAddress(context, body.webhookURL)
  const { isEnabled: enabled, basicAuthPassword: sent, ...settings } = body
  const saved = await saveSingle(context, app, slot, (row) => {
    const present = row && secretsOf<Kept>(context.secrets, row)
    const basicAuthPassword = secretOf(sent, present?.basicAuthPassword ?? '')
    return { enabled, settings, secrets: { basicAuthPassword, signing: present?.signing ?? makeSecret() } }
  })
  return show<Body>(context.secrets, saved)
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND`, 400 naming what is wrong */
export async function changeWebhook<Body extends Sent>(
  context: Context,
  app: App,
  slot: Slot,
  body: Partial<Body>,
): Promise<Body> {
  if (body.webhookURL !== undefined) await checkAddress(context, body.webhookURL)
  const saved = await changeSingle(context, app, slot, (row) => {
    const present = secretsOf<Kept>(context.secrets, row)
    const { isEnabled: enabled = row.enabled, basicAuthPassword, ...members } = body as Partial<Sent>
    const settings = { ...row.settings, ...given(members) } as unknown as Sent
    const secrets = { ...present, basicAuthPassword: secretOf(basicAuthPassword, present.basicAuthPassword) }
    checkCredentials({ ...settings, ...secrets })
    return { enabled, settings, secrets }
  })
  return show<Body>(context.secrets, saved)
}

/** @returns what its requests are signed with from now on, which is shown this once. @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export async function renewWebhookSecret(context: Context, app: App, slot: Slot): Promise<string> {
  const signing = makeSecret()
  await changeSingle(context, app, slot, (row) => {
    const secrets = { ...secretsOf<Kept>(context.secrets, row), signing }
    return { enabled: row.enabled, settings: row.settings, secrets }
  })
  return signing
}

/** Basic auth needs both. */
function checkCredentials(sent: Pick<Sent, 'useBasicAuth' | 'basicAuthUsername' | 'basicAuthPassword'>): void {
  if (!sent.useBasicAuth) return
  const empty = (['basicAuthUsername', 'basicAuthPassword'] as const).filter((name) => sent[name] === '')
  if (empty.length > 0) {
    throw badRequest(empty.map((name) => ({ path: `body/${name}`, message: 'must not be empty with useBasicAuth' })))
  }
}
