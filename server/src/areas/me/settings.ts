import { createHash } from 'node:crypto'
import { type AppSettings, type ClientSettings, limits, socketApiVersion } from '@parley/contract'
import type { Static } from 'typebox'
import type { ReasonRow } from '../../chat/moderation/reasons.ts'
import type { Config } from '../../config/index.ts'

/** The version in the path of the calls that front ends make. */
const apiVersion = 'v3.0'

/**
 * The generation of apps that front ends know this one as. Without it they forget the user who is logged in whenever a
 * page is loaded.
 */
const appVersion = 4

/** What front ends are told where there is no limit: they compare with it. */
const noLimit = 1_000_000_000

/** What is on here, and how far it goes. */
function parametersOf(limits: AppSettings): Record<string, boolean | number> {
  const most = (limit: number) => limit || noLimit
  return {
    // Whatever is stored becomes the last message of its conversation, and brings the conversation to the top.
    'core.conversations.updateOnGroupActions': true,
    'core.conversations.updateOnCustomMessage': true,
    'core.conversations.updateOnReplies': true,
    'core.conversations.updateOnCallActivity': true,
    'features.ux.messages.pinned.enabled': true,
    // Pins of the app and of users count together.
    'features.ux.messages.pinned.limit': most(limits.maxPinnedMessages),
    'features.ux.messages.pinned.system.limit': most(limits.maxPinnedMessages),
    'features.ux.messages.saved.enabled': true,
    'features.ux.messages.saved.limit': most(limits.maxSavedMessages),
    'features.ux.conversations.pinned.enabled': true,
    'features.ux.conversations.pinned.limit': most(limits.maxPinnedConversations),
    'features.ux.conversations.pinned.system.limit': most(limits.maxAppPinnedConversations),
  }
}

/**
 * What front ends read at login. They are sent back to the host that they came by, so that one deployment can be
 * reached by several names; SDKs always speak TLS, hence the port where the host names none.
 * @param host host with port as the client used it
 * @param app the settings of the app
 * @param reasons for flagging a message
 */
export function clientSettings(
  host: string,
  config: Pick<Config, 'appId' | 'region'>,
  app: AppSettings,
  reasons: readonly ReasonRow[],
): Static<typeof ClientSettings> {
  const { hostname, port } = new URL(`https://${host}`)
  const settings = {
    APP_VERSION: appVersion,
    CLIENT_API_HOST: host,
    ADMIN_API_HOST: host,
    CHAT_HOST: hostname,
    CHAT_HOST_OVERRIDE: '',
    CHAT_HOST_APP_SPECIFIC: '',
    CHAT_WSS_PORT: port === '' ? '443' : port,
    CHAT_API_VERSION: apiVersion,
    WS_API_VERSION: socketApiVersion,
    MODE: 'DEFAULT',
    ANALYTICS_PING_DISABLED: true,
    SECURED_MEDIA_HOST: host,
    'file.count.max': limits.filesPerMessage,
    'file.size.max': limits.bodyBytes.upload,
    parameters: parametersOf(app),
    extensions: [],
    flagReasons: reasons.map(({ id, name, description, createdAt, updatedAt, predefined }) => {
      return { id, name, description: description ?? '', createdAt, updatedAt, default: predefined }
    }),
  }
  return {
    ...settings,
    settingsHash: createHash('sha256')
      .update(JSON.stringify([settings, config.region]))
      .digest('hex')
      .slice(0, 32),
    settingsHashReceivedAt: Math.floor(Date.now() / 1000),
  }
}
