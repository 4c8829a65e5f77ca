import {
  type BodyOf,
  badRequest,
  type CustomApiEngine,
  type LabelsEngine,
  type LlmEngine,
  type updateCustomApiEngine,
  type updateLabelsEngine,
  type updateLlmEngine,
} from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import type { EngineName, EngineSetting } from '../../../chat/moderation/engine-settings.ts'
import type { Context } from '../../../context.ts'

/** What a request may set of an engine. */
type EngineChange = BodyOf<typeof updateCustomApiEngine> &
  Partial<BodyOf<typeof updateLlmEngine> & BodyOf<typeof updateLabelsEngine>>

/** Sets an engine up, or anew. @throws 400 naming `url` */
export async function saveEngine(
  context: Context,
  app: App,
  engine: EngineName,
  change: EngineChange,
): Promise<EngineSetting> {
  if (change.url !== undefined) await checkEngineUrl(context, change.url, 'body/url')
  const { url = null, model = null, apiKey, onError = 'approve-message', contextMessages = 0 } = change
  return context.engineSettings.change(app, engine, context.audit, (present) => ({
    ...{ url, model, onError, contextMessages },
    key: apiKey === undefined ? keyKept(present, url) : context.secrets.seal(apiKey),
  }))
}

/** A key goes to nobody but whom it was set for. */
function keyKept(present: EngineSetting, url: string | null): Buffer | null {
  const isSameHost = url !== null && present.url !== null && new URL(url).origin === new URL(present.url).origin
  return isSameHost ? present.key : null
}

/**
 * Checks the address of an engine as those of webhooks are checked.
 * @param path of the member in the request
 * @throws 400 naming it
 */
export async function checkEngineUrl(
  { outbound }: Pick<Context, 'outbound'>,
  text: string,
  path: string,
): Promise<void> {
  const refuse = (message: string) => badRequest([{ path, message }])
  if (!URL.canParse(text) || /\s/.test(text)) throw refuse('must be an absolute URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw refuse('must not hold a user name or password')
  const refusal = await outbound.refusalOf(url)
  if (refusal !== undefined) throw refuse(refusal)
}

export function showCustomApi({ onError, contextMessages }: EngineSetting): CustomApiEngine {
  return { onError, contextMessages }
}

export function showLlm({ url, model, key, onError, contextMessages }: EngineSetting): LlmEngine {
  return {
    ...(url !== null && { url }),
    ...(model !== null && { model }),
    hasApiKey: key !== null,
    onError,
    contextMessages,
  }
}

export function showLabels({ url, key, onError }: EngineSetting): LabelsEngine {
  return { ...(url !== null && { url }), hasApiKey: key !== null, onError }
}
