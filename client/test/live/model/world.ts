import type { createRandom } from '../../../../server/test/faults/support/random.ts'
import { dataOf } from '../../../../server/test/support/chat.ts'
import type { World } from '../../../../server/test/support/world.ts'
import type { Live, MemberList, OpenConversation, OpenThread, Peer } from '../../../src/index.ts'
import { liveOf, type Place } from '../support/people.ts'
import { type Network, openNetwork } from '../support/proxy.ts'

export type Random = ReturnType<typeof createRandom>

/** What a model needs of a service: to ask it past all networks. */
export type Ground = Place & Pick<World, 'get' | 'call'>

/** A tab of a user, with a network of its own. */
export interface Tab {
  readonly name: string
  readonly uid: string
  readonly token: string
  readonly line: Network
  readonly live: Live
  readonly chats: Map<string, OpenConversation>
  readonly threads: Map<string, OpenThread>
  members: MemberList | undefined
}

/** What was sent, by its muid. */
export interface Sent {
  readonly uid: string
  readonly peer: Peer
  readonly text: string
}

export interface Scene {
  readonly ground: Ground
  readonly random: Random
  readonly tabs: Tab[]
  readonly uids: readonly string[]
  readonly guids: readonly string[]
  readonly sent: Map<string, Sent>
  readonly refused: Set<string>
  /** Steps taken, for whoever looks at a failure. */
  readonly steps: string[]
  close(): Promise<void>
}

const owner = 'u0'

/** Users who all know each other, some of them with two tabs, and groups of all. */
export async function createScene(
  ground: Ground,
  random: Random,
  size: { users: number; tabs: number; prefix: string },
) {
  const uids = Array.from({ length: size.users }, (_, i) => `${size.prefix}u${i}`)
  const guids = [`${size.prefix}g0`, `${size.prefix}g1`]
  for (const uid of uids) dataOf(await ground.post('/users', { uid, name: uid }))
  for (const guid of guids) {
    const members = { participants: uids.slice(1) }
    dataOf(await ground.post('/groups', { guid, name: guid, type: 'public', owner: `${size.prefix}${owner}`, members }))
  }
  const scene: Scene = {
    ground,
    random,
    tabs: [],
    uids,
    guids,
    sent: new Map(),
    refused: new Set(),
    steps: [],
    async close() {
      for (const { live, line } of scene.tabs) {
        live.close()
        await line.close()
      }
    },
  }
  for (let i = 0; i < size.tabs; i++) scene.tabs.push(await openTab(scene, uids[i % uids.length] as string, i))
  return scene
}

async function openTab(scene: Scene, uid: string, number: number): Promise<Tab> {
  const { ground } = scene
  const token: string = dataOf(await ground.post(`/users/${uid}/auth_tokens`, {})).authToken
  const line = await openNetwork(ground.url)
  const live = await liveOf(ground, uid, {
    url: line.url,
    authToken: token,
    pageSize: 10,
    pingInterval: 200,
    pingTimeout: 400,
    timeout: 1500,
    retries: 0,
  })
  live.on((event) => {
    if (event.type === 'sendFailed') {
      scene.refused.add(event.muid)
      live.discard(event.muid)
    }
  })
  live.connect()
  return {
    name: `${uid}#${number}`,
    uid,
    token,
    line,
    live,
    chats: new Map(),
    threads: new Map(),
    members: undefined,
  }
}
