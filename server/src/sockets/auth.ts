import type { AuthFrame } from '@parley/contract'
import type { RolePolicy } from '../chat/roles/policies.ts'
import { listedFor } from '../chat/users/listed.ts'
import { requireActiveUser } from '../chat/users/require.ts'
import type { Context } from '../context.ts'
import { databaseAway } from '../faults.ts'
import { findOwner, resolveApp } from '../protocol/caller.ts'
import { unknownToken } from '../protocol/errors.ts'
import type { Login, Origin, Watch } from './connection.ts'

/**
 * Who an auth frame comes from. The app is that of the host name, else of the header `appId`, else the frame's, else the
 * default one.
 * @param connection knows the app that host or header name, and the client's address
 * @throws 401 for a token or app that is none, or a token of another; 503 while the database is away
 */
export async function authenticate(
  context: Context,
  { appName: named, client, address }: Origin,
  frame: AuthFrame,
  newDeviceId: () => string,
): Promise<Login> {
  const { database, monitor, policies } = context
  if (!monitor.available) throw databaseAway()
  const { auth, params } = frame.body
  const app = await resolveApp(context, '', { appid: named ?? frame.appId })
  const owner = await findOwner(context, app, auth, client)
  if (owner === undefined || (frame.sender !== undefined && frame.sender.toLowerCase() !== owner.uid)) {
    throw unknownToken()
  }
  const user = await requireActiveUser(database, app.appId, owner.uid)
  // What the client says of itself, its address too, is not checked.
  const appInfo = address === undefined ? params?.appInfo : { clientIp: address, ...params?.appInfo }
  const deviceId = frame.body.deviceId ?? frame.deviceId ?? params?.deviceId ?? newDeviceId()
  return {
    app,
    uid: owner.uid,
    info: {
      deviceId,
      ...(params?.platform !== undefined && { platform: params.platform }),
      ...(params?.userAgent !== undefined && { userAgent: params.userAgent }),
      ...(appInfo !== undefined && { appInfo }),
      connectedAt: Date.now(),
    },
    token: owner,
    watch: watchOf(frame, await policies.of(app.appId, user.role)),
    hidesBlocked: frame.body.hideMessagesFromBlockedUsers === true,
  }
}

/** What of `everybody` most sockets share. */
const everybody: Watch = { kind: 'ALL_USERS', friendsOnly: false, roles: null }
const friends: Watch = { kind: 'FRIENDS', friendsOnly: true, roles: null }

/** Whose presence a client hears of: what it asked for, of the users whom its role lets it list. */
function watchOf({ body }: AuthFrame, policy: RolePolicy | undefined): Watch | undefined {
  const watch = askedFor(body)
  if (watch === undefined || policy === undefined) return watch
  const listed = listedFor(policy)
  if (listed === 'nobody') return undefined
  const { roles: visible } = listed
  const roles = visible === null ? watch.roles : (watch.roles?.filter((role) => visible.includes(role)) ?? visible)
  return { kind: watch.kind, friendsOnly: watch.friendsOnly || listed.friendsOnly, roles }
}

function askedFor({ presenceSubscription, roles = [] }: AuthFrame['body']): Watch | undefined {
  switch (presenceSubscription) {
    case 'ALL_USERS':
      return everybody
    case 'FRIENDS':
      return friends
    case 'ROLES':
      return { kind: 'ROLES', friendsOnly: false, roles: roles.map((role) => role.toLowerCase()) }
    default:
      return undefined
  }
}
