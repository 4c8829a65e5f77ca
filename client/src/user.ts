import { userAreas } from './areas.ts'
import { type CallAny, createCall, createFace, type Face } from './call.ts'
import { type Extras, withExtras } from './extras.ts'
import { createTransport, idsOf, type TransportOptions } from './transport.ts'

export interface UserOptions extends TransportOptions {
  /**
   * The auth token of the user, which your back end has created, or a function that gets one from it. The function is called
   * when a token is needed for the first time, and when the service does not accept it any more.
   */
  readonly authToken: string | (() => Promise<string>)
}

/** What a front end calls for its user, by area: `parley.messages.send({ receiver, receiverType, data: { text } })`. */
export type UserClient = Face<typeof userAreas> &
  Extras & {
    /** Any operation by its method and path. */
    readonly call: CallAny
  }

/** A client for front ends, with the auth token of a user. */
export function createUserClient(options: UserOptions): UserClient {
  const send = createTransport(options, credentialsOf(options.authToken))
  return userClientOf(options, createCall(send, idsOf(options)))
}

/** The functions that stand for what a user can call. */
export function userClientOf(options: TransportOptions, call: CallAny): UserClient {
  return { ...withExtras(createFace(userAreas, call), call, options), call }
}

/** One call of the product's function at a time; all who wait share its answer. */
export function credentialsOf(authToken: UserOptions['authToken']) {
  let current: Promise<string> | undefined
  const token = () => {
    if (current === undefined) {
      const asked = typeof authToken === 'string' ? Promise.resolve(authToken) : authToken()
      current = asked
      // What failed is asked for again by the next request.
      asked.catch(() => {
        if (current === asked) current = undefined
      })
    }
    return current
  }
  return {
    token,
    headers: async () => ({ authToken: await token() }),
    async renew(used: Record<string, string>) {
      // Somebody else may have renewed it while this request was under way, or just now.
      const known = current
      if (known !== undefined && (await known) === used.authToken && current === known) current = undefined
      return (await token()) !== used.authToken
    },
  }
}
