import { afterEach } from 'vitest'
import { createUsers, createWorld, type World } from '../../../../server/test/support/world.ts'
import type { Live, MessageList } from '../../../src/index.ts'
import { connected } from './people.ts'
import { type Network, openNetwork } from './proxy.ts'

/** Makes clients and networks that end with the test. */
export function useRoom() {
  const ends: Array<() => unknown> = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  const keep = (live: Live) => {
    ends.push(() => live.close())
    return live
  }
  return {
    keep,
    join: async (...args: Parameters<typeof connected>): Promise<Live> => keep(await connected(...args)),
    async network(url: string): Promise<Network> {
      const network = await openNetwork(url)
      ends.push(() => network.close())
      return network
    },
    async world(...uids: string[]): Promise<World> {
      const world = await createWorld()
      await createUsers(world, ...uids)
      return world
    },
    onEnd: (end: () => unknown) => void ends.push(end),
  }
}

export function textsOf(list: MessageList): unknown[] {
  return list.getSnapshot().messages.map(({ data }) => data.text)
}
