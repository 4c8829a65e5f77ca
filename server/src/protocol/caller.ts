import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, badRequest, type Operation } from '@parley/contract'
import { findTokenOwner } from '../chat/credentials/tokens.ts'
import type { App, Caller } from '../chat/identity.ts'
import type { Context } from '../context.ts'

/** The app that a request is for: by host name `{appId}.<anything>-{region}.<domain>`, else header `appId`, else the default. */
export async function resolveApp(context: Context, host: string, headers: IncomingHttpHeaders): Promise<App> {
  const name = (namedApp(host, headers) ?? context.config.appId).toLowerCase()
  const app = await context.apps.find(name)
  if (app === undefined) throw new ApiError('AUTH_ERR_INVALID_APPID', `There is no app with the id ${name}.`)
  return app
}

/** The app that host name or header name; undefined where neither does. */
export function namedApp(host: string, headers: IncomingHttpHeaders): string | undefined {
  return appOfHost(host) ?? headerOf(headers, 'appid')
}

const appHost = /^([A-Za-z0-9_-]+)\.[^.]+-(?:us|eu|in)\.[^:]+(?::\d+)?$/

function appOfHost(host: string): string | undefined {
  return appHost.exec(host)?.[1]
}

/** Who a request comes from, by `apikey` (and then `onBehalfOf`) or `authToken`. Whether it may call is checked here too. */
export async function authenticate(
  context: Context,
  app: App,
  operation: Operation,
  headers: IncomingHttpHeaders,
): Promise<Caller> {
  const key = headerOf(headers, 'apikey')
  if (key !== undefined)
    return authenticateKey(context, app, operation, key, headerOf(headers, 'onbehalfof'), deviceOf(headers))

  const token = headerOf(headers, 'authtoken')
  if (token === undefined) {
    if (headers.authtoken !== undefined && headers.apikey === undefined) throw new ApiError('AUTH_ERR_EMPTY_AUTH_TOKEN')
    throw new ApiError('AUTH_ERR_EMPTY_APIKEY', 'The header apikey is missing or empty.')
  }
  const owner = await findTokenOwner(context.database, context.secrets, app, token)
  if (owner === undefined) throw new ApiError('AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
  if (operation.access.user !== true) {
    throw new ApiError('AUTH_ERR_NO_ACCESS', `${operation.id} needs an API key; an auth token is not enough.`)
  }
  return { kind: 'user', uid: owner, via: 'token', authToken: token, ...deviceOf(headers) }
}

async function authenticateKey(
  context: Context,
  app: App,
  operation: Operation,
  key: string,
  onBehalfOf: string | undefined,
  device: { device?: string },
): Promise<Caller> {
  const credential = await context.keys.find(app, key)
  if (credential === undefined) throw new ApiError('AUTH_ERR_APIKEY_NOT_FOUND')
  if (credential.scope !== 'fullAccess' && operation.access.authOnly !== true) {
    throw new ApiError('AUTH_ERR_NO_ACCESS', `${operation.id} needs a fullAccess key; an authOnly key is not enough.`)
  }
  if (onBehalfOf === undefined || operation.onBehalfOf === 'ignored') {
    return { kind: 'app', keyDigest: credential.digest, scope: credential.scope }
  }
  return { kind: 'user', uid: onBehalfOf.toLowerCase(), via: 'key', ...device }
}

/** The device or browser tab that acts, as front ends name it. */
function deviceOf(headers: IncomingHttpHeaders): { device?: string } {
  const device = headerOf(headers, 'resource')
  return device === undefined ? {} : { device }
}

/** Part of the shape of a request: some operations cannot do without an acting user. @throws 400 */
export function checkActorNamed(operation: Operation, caller: Caller): void {
  if (operation.onBehalfOf === 'required' && caller.kind === 'app') {
    throw badRequest([{ path: 'headers/onBehalfOf', message: 'is required' }])
  }
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  const text = Array.isArray(value) ? value[0] : value
  return text?.trim() || undefined
}
