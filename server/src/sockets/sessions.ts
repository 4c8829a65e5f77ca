import { ApiError, type AuthFrame, AuthFrame as AuthSchema, type SocketClose } from '@parley/contract'
import { settingsTopic } from '../chat/app-settings.ts'
import { AppPausedError } from '../chat/apps.ts'
import { expiryCheckMs } from '../chat/credentials/tokens.ts'
import type { SocketSettings } from '../config/sockets.ts'
import type { Context } from '../context.ts'
import type { SessionsEnded } from '../events/types.ts'
import { limitExceeded } from '../limits/errors.ts'
import { toApiError } from '../protocol/errors.ts'
import { compileCheck, sanitize } from '../protocol/validation.ts'
import type { Admission } from './admission.ts'
import { authenticate } from './auth.ts'
import type { Connection, Login } from './connection.ts'
import type { PresenceTracker } from './presence/tracker.ts'
import type { AppSockets, Registry } from './registry.ts'
import { closeOverTime } from './upkeep.ts'

/** Logs sockets in and out. */
export interface Sessions {
  /** Checks the first frame, answers it, and lets the socket take part. @returns whether it does */
  logIn(connection: Connection, frame: Record<string, unknown>): Promise<boolean>
  /** The socket closed. */
  logOut(connection: Connection): void
  /** Tokens stopped working: their sockets close at once. */
  end(appId: number, event: SessionsEnded): void
  /** Closes the sockets whose tokens stopped working without this process having heard of it. */
  verify(): Promise<void>
  /** Closes the sockets of an app that was paused, over some time; of any, where none is named. */
  endPaused(name: string | undefined): Promise<void>
  /** Closes the sockets whose tokens have expired, or are of an issuer that their app had before. Called every second. @param now as `performance.now()` has it */
  endExpired(now: number): Promise<void>
}

/** Logging in counts like a request of its class. @throws 429 `ERR_TOO_MANY_REQUESTS` */
async function takeFromLimits({ limits: { rateLimiter } }: Context, { app, uid }: Login): Promise<void> {
  const counted = [
    ['user', `${app.appId} ${uid}`],
    ['core', `${app.appId}`],
  ] as const
  for (const [name, key] of counted) {
    const standing = await rateLimiter.take(name, key)
    if (standing?.isExceeded) throw limitExceeded(standing)
  }
}

/** How a socket is closed whose login failed. */
function closeOf(error: unknown, status: number): SocketClose {
  if (error instanceof AppPausedError) return 'paused'
  if (status >= 500) return 'tryAgain'
  return status === 429 ? 'tooFast' : 'notAuthenticated'
}

const checkAuth = compileCheck('frame', AuthSchema)
// Compiled before anybody comes, since after a restart many come first thing.
checkAuth({ type: 'auth', body: { auth: 'any' } })
const maxAttempts = 5
const verifiedAtOnce = 1_000
/** Whoever logs in within this after their socket was let in need not wait once more. */
const turnLastsMs = 3_000

export interface SessionsParts {
  readonly context: Context
  readonly registry: Registry
  readonly presence: PresenceTracker
  readonly settings: SocketSettings
  readonly admission: Admission
}

export function createSessions({ context, registry, presence, settings, admission }: SessionsParts): Sessions {
  let ended = 0
  let devices = 0
  let isChecking = false
  /** Apps may have changed their issuers without this process having heard of it. */
  let areIssuersUnknown = false

  /** A token that stops working while it is looked up, or an app that changes, is looked up again. */
  const check = async (connection: Connection, frame: AuthFrame): Promise<Login> => {
    for (let attempt = 1; ; attempt++) {
      const before = ended
      const login = await authenticate(context, connection, frame, () => `socket-${++devices}`)
      if (attempt === 1) await takeFromLimits(context, login)
      if (ended === before || attempt === maxAttempts) return login
    }
  }

  const enter = (connection: Connection, login: Login) => {
    connection.login = login
    connection.appName = undefined
    connection.address = undefined
    connection.state = 'ready'
    const sockets = registry.open(login.app)
    const user = sockets.add(connection)
    if (user.connections.length === 1) presence.note(sockets, user, login.info)
    const oldest = user.connections[0]
    if (user.connections.length > settings.perUser && oldest !== undefined) {
      leave(sockets, oldest)
      oldest.close('replaced')
    }
  }

  const verifySome = async (sockets: AppSockets, connections: readonly Connection[]) => {
    const tokens = connections.flatMap(({ login }) => login?.token ?? [])
    const valid = await context.tokens.findValid(sockets.app.appId, tokens)
    for (const connection of connections) {
      if (valid.has(connection.login?.token.digest ?? '')) continue
      leave(sockets, connection)
      connection.close('sessionEnded')
    }
  }

  const verifyAll = async (sockets: AppSockets) => {
    const connections = [...sockets.users.values()].flatMap((user) => user.connections)
    for (let i = 0; i < connections.length; i += verifiedAtOnce) {
      await verifySome(sockets, connections.slice(i, i + verifiedAtOnce))
    }
  }

  const leave = (sockets: AppSockets, connection: Connection) => {
    const user = sockets.remove(connection)
    const info = connection.login?.info
    if (user?.connections.length === 0 && info !== undefined) presence.note(sockets, user, info)
  }

  /** An app has somebody else sign its tokens, or nobody: those of before open nothing. */
  const verifySigned = async (appId: number) => {
    const sockets = registry.of(appId)
    const connections = [...(sockets?.users.values() ?? [])].flatMap((user) => user.connections)
    const signed = connections.filter(({ login }) => login?.token.jwt !== undefined)
    if (sockets === undefined || signed.length === 0) return
    await verifySome(sockets, signed)
  }
  /** Not at once: the connection that notifies of changes is cut or opened again, so the database may not answer yet. */
  const verifyAllSigned = async () => {
    if (!areIssuersUnknown) return
    areIssuersUnknown = false
    try {
      for (const { app } of [...registry.all()]) await verifySigned(app.appId)
    } catch (error) {
      areIssuersUnknown = true
      throw error
    }
  }
  context.invalidation.onChange(settingsTopic, (appId) => {
    ended++
    if (appId === undefined) areIssuersUnknown = true
    else verifySigned(Number(appId)).catch((error) => context.log.warn({ err: error }, 'sockets could not be verified'))
  })

  return {
    async logIn(connection, sent) {
      connection.state = 'authenticating'
      const hasTurn = performance.now() - connection.since < turnLastsMs
      try {
        const frame = sanitize(sent, 'frame')
        checkAuth(frame)
        if (!hasTurn) await admission.enter(() => connection.state === 'authenticating')
        if (connection.state !== 'authenticating') return false
        const login = await check(connection, frame as AuthFrame)
        if (connection.state !== 'authenticating') return false
        enter(connection, login)
        connection.sendFrame({ type: 'auth', body: { code: '200', status: 'OK' } })
        return true
      } catch (error) {
        const { status, code } = toApiError(error, context.log, 'socket')
        // A user who is not there is a token that is not valid.
        const isAway = status >= 500
        const shown = isAway ? 503 : status === 400 || status === 429 ? status : 401
        const named = error instanceof ApiError || isAway ? code : 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'
        if (connection.state !== 'authenticating') return false
        connection.sendFrame({ type: 'auth', body: { code: String(shown), status: named } })
        connection.close(closeOf(error, status))
        return false
      }
    },
    logOut(connection) {
      const sockets = connection.login && registry.of(connection.login.app.appId)
      if (sockets !== undefined) leave(sockets, connection)
    },
    end(appId, { uid, tokens, jwts }) {
      ended++
      const sockets = registry.of(appId)
      if (sockets === undefined) return
      for (const connection of [...sockets.connectionsOf(uid)]) {
        const token = connection.login?.token
        const isAmong = tokens === undefined || tokens.includes(token?.digest ?? '')
        if (!isAmong && !(jwts === true && token?.jwt !== undefined)) continue
        // Out of every list at once: nothing more is sent to it, whenever it closes.
        leave(sockets, connection)
        connection.close('sessionEnded')
      }
    },
    async endPaused(name) {
      ended++
      for (const sockets of [...registry.all()]) {
        if (name !== undefined && sockets.app.name !== name) continue
        const app = await context.apps.find(sockets.app.name)
        if (app !== undefined && app.pausedAt === null) continue
        await closeOverTime(
          [...sockets.users.values()].flatMap((user) => user.connections),
          'paused',
          settings.drainMs,
        )
      }
    },
    async verify() {
      for (const sockets of registry.all()) await verifyAll(sockets)
    },
    async endExpired(now) {
      if (isChecking) return
      isChecking = true
      try {
        await verifyAllSigned()
        for (const sockets of [...registry.all()]) {
          const every = expiryCheckMs(await context.settings.of(sockets.app.appId))
          if (every === undefined || now < sockets.checkedAt + every) continue
          sockets.checkedAt = now
          await verifyAll(sockets)
        }
      } finally {
        isChecking = false
      }
    },
  }
}
