import type { User } from '../contract.ts'
import { ParleyError } from '../errors.ts'
import type { Signal } from '../platform.ts'
import type { CreateCell } from './cell.ts'
import type { View } from './interface.ts'
import type { Answered, Port } from './port.ts'

/** Who is logged in. */
export interface Session {
  readonly me: View<User | undefined>
  /** Undefined until the first connection. */
  readonly uid: string | undefined
  /** Asks who it is. @throws ParleyError if it is somebody else than before */
  logIn(signal: Signal): Promise<void>
}

/** What is here is of one user. @throws ParleyError if whoever has logged in since is another */
export function requireSame(known: User | undefined, { uid }: User): void {
  if (known === undefined || known.uid === uid) return
  throw new ParleyError(401, {
    error: { code: 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND', message: 'The token is of another user.' },
  })
}

export function createSession(cell: CreateCell, port: Pick<Port, 'call'>): Session {
  let user: User | undefined
  const me = cell(() => user)
  return {
    me,
    get uid() {
      return user?.uid
    },
    async logIn(signal) {
      const { data } = await port.call<Answered<User>>('GET', '/me', { signal })
      requireSame(user, data)
      user = data
      me.changed()
    },
  }
}
