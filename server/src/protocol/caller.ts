import type { IncomingHttpHeaders } from 'node:http'
import { badRequest, type Operation } from '@parley/contract'
import { findRunning, type RegisteredApp } from '../chat/apps.ts'
import type { Credential } from '../chat/credentials/keys.ts'
import type { TokenOwner } from '../chat/credentials/tokens.ts'
import type { App, Caller } from '../chat/identity.ts'
import type { Context } from '../context.ts'
import * as errors from './errors.ts'

/**
 * The app that a request is for: by host name `{appId}.<anything>-{region}.<domain>`, else header `appId`, else the default.
 * @throws 401 `AUTH_ERR_INVALID_APPID`, 503 `ERR_MISSION_FAILED` where it is paused
 */
export async function resolveApp(context: Context, host: string, headers: IncomingHttpHeaders): Promise<RegisteredApp> {
  const name = (namedApp(host, headers) ?? context.config.appId).toLowerCase()
  const app = await findRunning(context.apps, name)
  if (app === undefined) throw errors.unknownApp(name)
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

/**
 * Who a request comes from, by `apikey` (and then `onBehalfOf`) or `authToken`.
 * @param address where the client's address is limited: whoever tries keys and tokens from there is slowed down
 */
export async function authenticate(
  context: Context,
  app: App,
  operation: Operation,
  headers: IncomingHttpHeaders,
  address: string | undefined,
): Promise<Caller> {
  const key = headerOf(headers, 'apikey')
  if (key !== undefined) {
    const credential = await findCredential(context, address, key, () => context.keys.find(app, key))
    if (credential === undefined) throw errors.unknownKey()
    return callerOf(operation, credential, headerOf(headers, 'onbehalfof'), deviceOf(headers))
  }

  const token = headerOf(headers, 'authtoken') ?? (operation.access.jwt === true ? jwtOf(headers) : undefined)
  if (token === undefined) {
    if (headers.authtoken !== undefined && headers.apikey === undefined) throw errors.missingToken()
    throw errors.missingKey()
  }
  const owner = await findOwner(context, app, token, address)
  if (owner === undefined) throw errors.unknownToken()
  const { uid, ...login } = owner
  return { kind: 'user', uid, via: 'token', authToken: token, login, ...deviceOf(headers) }
}

/** Whose token this is. @throws 429 while the address must wait */
export async function findOwner(
  context: Context,
  app: App,
  token: string,
  address: string | undefined,
): Promise<TokenOwner | undefined> {
  const found = await findCredential(context, address, token, () => context.tokens.find(app, token))
  return found === 'over' ? undefined : found
}

/** Looks a key or token up, and takes note of whether it is, or was, right. @throws 429 while the address must wait */
export async function findCredential<Found>(
  { wrongCredentials }: Context,
  address: string | undefined,
  text: string,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  if (address === undefined) return find()
  await wrongCredentials.check(address, text)
  const found = await find()
  if (found === undefined) await wrongCredentials.wasWrong(address, text)
  else wrongCredentials.wasRight(address, text)
  return found
}

function callerOf(
  operation: Operation,
  credential: Credential,
  onBehalfOf: string | undefined,
  device: { device?: string },
): Caller {
  const { digest, origin, line, scope } = credential
  const used = { keyDigest: digest, keyOrigin: origin, keyLine: line, scope }
  if (onBehalfOf === undefined || operation.onBehalfOf === 'ignored') return { kind: 'app', ...used }
  return { kind: 'user', uid: onBehalfOf.toLowerCase(), via: 'key', ...used, ...device }
}

/** Whether a caller may call an operation at all. @throws 403 `AUTH_ERR_NO_ACCESS` */
export function checkAccess({ id, access }: Operation, caller: Caller): void {
  if (caller.kind === 'user' && caller.via === 'token') {
    if (access.user === true) return
    throw errors.needsKey(id)
  }
  if (caller.scope !== 'fullAccess' && access.authOnly !== true) {
    throw errors.needsFullAccess(id)
  }
}

/** The token of the header `Authorization`, with or without its scheme. */
function jwtOf(headers: IncomingHttpHeaders): string | undefined {
  return headerOf(headers, 'authorization')?.replace(/^bearer\s+/i, '')
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
