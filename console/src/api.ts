import { type AdminResult, type AppClient, type CallOptions, createOperatorClient, ParleyError } from '@parley/client'
import { QueryClient } from '@tanstack/react-query'

/** What the operator who is signed in may do. */
export type Me = AdminResult<'GET /session'>
export type Right = Me['rights'][number]

/** The admin API of the service that the page came from; its session is a cookie. */
const client = createOperatorClient({ url: location.origin, retries: 1 })
export const admin = client.call

const apps = new Map<string, AppClient>()

/** The operations of the contract for one app. */
export function appClient(appId: string): AppClient {
  let known = apps.get(appId)
  if (known === undefined) {
    known = client.app(appId)
    apps.set(appId, known)
  }
  return known
}

/** For calls as another user sees it. */
export type { CallOptions }

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // The client repeats what is worth it.
      retry: false,
      refetchOnWindowFocus: true,
    },
  },
})

/** A message for people, whatever was thrown. */
export function explain(error: unknown): string {
  if (error instanceof ParleyError) return error.devMessage
  return error instanceof Error ? error.message : String(error)
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof ParleyError ? error.code : undefined
}

/** Whether nobody is signed in (any more). */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ParleyError && error.status === 401 && error.code === 'ERR_NO_AUTH'
}
