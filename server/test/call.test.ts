import { type getMe, type listAppPinnedConversations, type listUsers, sendMessage } from '@parley/contract'
import { describe, expectTypeOf, it } from 'vitest'
import { type Call, serve } from '../src/call.ts'
import type { UserRow } from '../src/chat/users/rows.ts'

describe('a handler is given the acting user as the operation declares it', () => {
  it('a user where onBehalfOf is required', () => {
    expectTypeOf<Call<typeof getMe>['actor']>().toEqualTypeOf<UserRow>()
  })

  it('a user or the app where it is optional', () => {
    expectTypeOf<Call<typeof listUsers>['actor']>().toEqualTypeOf<UserRow | undefined>()
  })

  it('nobody where it is ignored', () => {
    expectTypeOf<Call<typeof listAppPinnedConversations>['actor']>().toEqualTypeOf<undefined>()
  })

  it('nothing to read where the operation checks the actor by itself', () => {
    const handle = (call: object): Promise<never> => {
      throw new Error(`is never called, with ${Object.keys(call)}`)
    }
    serve(
      sendMessage,
      (call) => {
        expectTypeOf(call).not.toHaveProperty('actor')
        return handle(call)
      },
      { checksActor: true },
    )
  })
})
