import type { App } from '../chat/identity.ts'
import type { Audience } from './audiences.ts'
import type { Connection } from './connection.ts'

/** The sockets of one user. */
export interface UserSockets {
  readonly uid: string
  readonly connections: Connection[]
  /** The database has them as connected to this process; undefined where that is not known. */
  isPresent: boolean | undefined
}

/** The sockets of one app in this process. */
export class AppSockets {
  readonly app: App
  readonly users = new Map<string, UserSockets>()
  /** Those who hear of everybody's presence, and those who hear of some. */
  readonly watchers = { all: new Set<Connection>(), some: new Set<Connection>() }
  /** Who is connected of the groups in which something is going on, by guid. */
  readonly audiences = new Map<string, Audience>()
  /** How many sockets are open. */
  connected = 0
  /** Sockets that hide groups' messages of users whom theirs has blocked. */
  hiding = 0
  /** When it was last looked whether tokens have expired, as `performance.now()` has it. */
  checkedAt = performance.now()
  /** uids in the order in which they came, so that what is kept of groups can look at those who came since. */
  private arrivals: string[] = []
  private forgotten = 0

  constructor(app: App) {
    this.app = app
  }

  add(connection: Connection): UserSockets {
    const { uid, watch, hidesBlocked } = connection.login!
    let user = this.users.get(uid)
    if (user === undefined) {
      user = { uid, connections: [], isPresent: false }
      this.users.set(uid, user)
    }
    if (user.connections.length === 0) this.noteArrival(uid)
    user.connections.push(connection)
    this.connected++
    if (watch !== undefined) this.watchersLike(connection).add(connection)
    if (hidesBlocked) this.hiding++
    return user
  }

  /** @returns the user, whose last socket it may have been */
  remove(connection: Connection): UserSockets | undefined {
    const { uid, watch, hidesBlocked } = connection.login!
    const user = this.users.get(uid)
    const at = user?.connections.indexOf(connection) ?? -1
    if (user === undefined || at === -1) return undefined
    user.connections.splice(at, 1)
    this.connected--
    if (watch !== undefined) this.watchersLike(connection).delete(connection)
    if (hidesBlocked) this.hiding--
    return user
  }

  /** Forgets a user who is not connected, and of whom the database is known to say so. */
  release(user: UserSockets): void {
    if (user.connections.length === 0 && user.isPresent === false) this.users.delete(user.uid)
  }

  /** Users with an open socket; those who are only present elsewhere are none. */
  *connectedUids(): Iterable<string> {
    for (const { uid, connections } of this.users.values()) if (connections.length > 0) yield uid
  }

  connectionsOf(uid: string): readonly Connection[] {
    return this.users.get(uid)?.connections ?? []
  }

  /** How many users have come so far. */
  get arrived(): number {
    return this.forgotten + this.arrivals.length
  }

  /** Who came since that count; all who are connected where that is too long ago. */
  arrivedSince(count: number): string[] {
    if (count >= this.forgotten) return [...new Set(this.arrivals.slice(count - this.forgotten))]
    return [...this.users.keys()]
  }

  private noteArrival(uid: string): void {
    this.arrivals.push(uid)
    if (this.arrivals.length < 8192) return
    this.arrivals = this.arrivals.slice(4096)
    this.forgotten += 4096
  }

  private watchersLike({ login }: Connection): Set<Connection> {
    const watch = login?.watch
    return watch?.friendsOnly === false && watch.roles === null ? this.watchers.all : this.watchers.some
  }
}

/** All sockets of this process that are logged in, by app. */
export class Registry {
  private readonly apps = new Map<number, AppSockets>()

  /** Undefined where nobody of the app is connected here. */
  of(appId: number): AppSockets | undefined {
    return this.apps.get(appId)
  }

  open(app: App): AppSockets {
    let sockets = this.apps.get(app.appId)
    if (sockets === undefined) {
      sockets = new AppSockets(app)
      this.apps.set(app.appId, sockets)
    }
    return sockets
  }

  /** Forgets apps of which nobody is connected. */
  prune(): void {
    for (const [appId, { users }] of this.apps) if (users.size === 0) this.apps.delete(appId)
  }

  all(): Iterable<AppSockets> {
    return this.apps.values()
  }
}
