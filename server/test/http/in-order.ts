import { createWorld, type World } from '../support/world.ts'
import { furnish, type Ids } from './samples.ts'

export interface Furnished {
  readonly world: World
  readonly ids: Ids
}

/** A furnished world in which everything has happened in the same order each time. */
export async function furnishInOrder(
  furnishIt: typeof furnish = furnish,
  ...service: Parameters<typeof createWorld>
): Promise<Furnished> {
  const world = await createWorld(...service)
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (...call: Parameters<World['call']>) => {
    const answer = last.then(() => world.call(...call))
    last = answer
    return answer
  }
  const ordered: World = {
    ...world,
    call: inTurn,
    get: (path, options) => inTurn('GET', path, undefined, options),
    post: (path, body, options) => inTurn('POST', path, body, options),
    put: (path, body, options) => inTurn('PUT', path, body, options),
    delete: (path, body, options) => inTurn('DELETE', path, body, options),
  }
  return { world, ids: await furnishIt(ordered) }
}
