import { createWorld, type World } from '../../server/test/support/world.ts'
import {
  createServerClient,
  createUserClient,
  type Fetch,
  type ServerClient,
  type UserClient,
  type UserOptions,
} from '../src/index.ts'

/** An app of its own, with the client of its back end. */
export interface ClientWorld extends World {
  readonly server: ServerClient
  /** Makes a user with a token. */
  userClient(uid: string, options?: Partial<UserOptions>): Promise<UserClient>
}

export async function createClientWorld(): Promise<ClientWorld> {
  const world = await createWorld()
  const shared = { url: world.url, appId: world.app.name }
  const server = createServerClient({ ...shared, apiKey: world.apiKey })
  return {
    ...world,
    server,
    async userClient(uid, options) {
      await server.users.create({ uid, name: uid }).catch(() => {})
      const { authToken } = await server.users.tokens.create({ uid })
      return createUserClient({ ...shared, authToken, ...options })
    },
  }
}

/** What the platform has. */
export const realFetch = globalThis.fetch as unknown as Fetch

/** Answers by `answer` in turn, and by the service where there is nothing left. */
export function fetchWith(...answers: ((real: Fetch) => Fetch)[]): Fetch & { count: number } {
  const fetch = (async (url, init) => {
    fetch.count++
    const next = answers.shift()
    return await (next === undefined ? realFetch : next(realFetch))(url, init)
  }) as Fetch & { count: number }
  fetch.count = 0
  return fetch
}

/** What a proxy answers instead of the service. */
export function answering(status: number, headers: Record<string, string> = {}): () => Fetch {
  return () => async () => ({
    status,
    headers: { get: (name) => headers[name] ?? null },
    text: async () => '<html>',
  })
}

/** The service does what it is asked, and its answer is lost. */
export const losingTheAnswer =
  (real: Fetch): Fetch =>
  async (url, init) => {
    await (await real(url, init)).text()
    throw new TypeError('fetch failed')
  }
