import type { User } from '../contract.ts'
import type { Signal } from '../platform.ts'
import type { CreateCell } from './cell.ts'
import type { View } from './interface.ts'
import type { Answered, Port } from './port.ts'

/** Who is logged in. */
export interface Session {
  readonly me: View<User | undefined>
  /** Undefined until the first connection. */
  readonly uid: string | undefined
  /** Asks who it is, where that is not known. */
  logIn(signal: Signal): Promise<void>
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
      if (user !== undefined) return
      user = (await port.call<Answered<User>>('GET', '/me', { signal })).data
      me.changed()
    },
  }
}
