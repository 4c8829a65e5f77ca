import { ApiError, type AuthFrame } from '@parley/contract'
import { findTokenOwner } from '../chat/credentials/tokens.ts'
import type { RolePolicy } from '../chat/roles/policies.ts'
import { isFriendsMode, roleList } from '../chat/roles/rules.ts'
import { requireActiveUser } from '../chat/users/require.ts'
import type { Context } from '../context.ts'
import { resolveApp } from '../protocol/caller.ts'
import { databaseAway } from '../protocol/errors.ts'
import type { Login, Watch } from './connection.ts'

/**
 * Who an auth frame comes from. The app is that of the host name, else of the header `appId`, else the frame's, else the
 * default one.
 * @param named the app that host or header name
 * @throws 401 for a token or app that is none, or a token of another; 503 while the database is away
 */
export async function authenticate(
  context: Context,
  named: string | undefined,
  frame: AuthFrame,
  newDeviceId: () => string,
): Promise<Login> {
  const { database, secrets, monitor, policies } = context
  if (!monitor.available) throw databaseAway()
  const { auth, params } = frame.body
  const app = await resolveApp(context, '', { appid: named ?? frame.appId })
  const owner = await findTokenOwner(database, secrets, app, auth)
  if (owner === undefined || (frame.sender !== undefined && frame.sender.toLowerCase() !== owner)) {
    throw new ApiError('AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
  }
  const user = await requireActiveUser(database, app.appId, owner)
  const deviceId = frame.body.deviceId ?? frame.deviceId ?? params?.deviceId ?? newDeviceId()
  return {
    app,
    uid: owner,
    info: {
      deviceId,
      ...(params?.platform !== undefined && { platform: params.platform }),
      ...(params?.userAgent !== undefined && { userAgent: params.userAgent }),
      ...(params?.appInfo !== undefined && { appInfo: params.appInfo }),
      connectedAt: Date.now(),
    },
    token: secrets.digest(auth).toString('base64'),
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
  const isDenied = policy.restricted.has('listUsers') || policy.permissions.listUsers === 'deny'
  if (isDenied) return undefined
  const friendsOnly = policy.settings.listUsers === 'friendsOnly' || isFriendsMode(policy, 'listUsers.mode')
  const visible = roleList(policy, 'listUsers.allowedRoles')
  const roles = visible === null ? watch.roles : (watch.roles?.filter((role) => visible.includes(role)) ?? visible)
  return { kind: watch.kind, friendsOnly: watch.friendsOnly || friendsOnly, roles }
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
