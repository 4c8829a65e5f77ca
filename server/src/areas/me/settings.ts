import { createHash } from 'node:crypto'
import type { ClientSettings } from '@parley/contract'
import type { Static } from 'typebox'
import type { Config } from '../../config.ts'

/** The version in the path of the calls that front ends make. */
const apiVersion = 'v3.0'

/**
 * What front ends read at login. They are sent back to the host that they came by, so that one deployment can be
 * reached by several names; SDKs always speak TLS, hence the port where the host names none.
 * @param host host with port as the client used it
 */
export function clientSettings(host: string, config: Pick<Config, 'appId' | 'region'>): Static<typeof ClientSettings> {
  const { hostname, port } = new URL(`https://${host}`)
  const settings = {
    CLIENT_API_HOST: host,
    ADMIN_API_HOST: host,
    CHAT_HOST: hostname,
    CHAT_HOST_OVERRIDE: '',
    CHAT_HOST_APP_SPECIFIC: '',
    CHAT_WSS_PORT: port === '' ? '443' : port,
    CHAT_API_VERSION: apiVersion,
    MODE: 'DEFAULT',
    ANALYTICS_PING_DISABLED: true,
    SECURED_MEDIA_HOST: host,
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
