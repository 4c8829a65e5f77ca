import { tokenOf } from './socket.ts'
import { type Answer, send, type World } from './world.ts'

/** Somebody who has a credential of an app and nothing else: they know no more of the service than what it answers. */
export interface Attacker {
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  put(path: string, body?: unknown): Promise<Answer>
  delete(path: string, body?: unknown): Promise<Answer>
}

/** An attacker with the auth token of a user, as everybody who opens a front end has one. */
export async function attackerAs(world: World, uid: string): Promise<Attacker> {
  return attackerWith(world, { authtoken: await tokenOf(world, uid) })
}

/** An attacker with just these headers beside the app's name. */
export function attackerWith(world: World, headers: Record<string, string>): Attacker {
  const call = (method: string) => (path: string, body?: unknown) =>
    send(world.url, method, path, body, { appid: world.app.name, ...headers })
  return { get: call('GET'), post: call('POST'), put: call('PUT'), delete: call('DELETE') }
}
