import { admin } from '../api.ts'

/** Where a provider leads back to. */
const landing = '/console/sign-in'

/** What a provider led back with: what finishes a sign-in, or why there is none. */
export type Return =
  | { readonly state: string; readonly code: string; readonly iss?: string }
  | { readonly problem: string }

/** Read once from the address, which is then free of it. Nothing of it is believed here: the service looks at it. */
export function readReturn(): Return | undefined {
  if (location.pathname !== landing) return undefined
  const { state, code, iss, error } = Object.fromEntries(new URLSearchParams(location.search))
  history.replaceState(null, '', '/console/')
  if (state !== undefined && code !== undefined) return { state, code, ...(iss !== undefined && { iss }) }
  if (error === undefined) return undefined
  const isCode = /^[a-z_]{1,40}$/.test(error)
  return { problem: `The provider did not sign you in${isCode ? `: ${error.replaceAll('_', ' ')}` : ''}.` }
}

/** Goes to the page of the provider; it leads back to the page that is open now. */
export async function goToProvider(): Promise<void> {
  const here = location.pathname.replace(/^\/console/, '') || '/'
  const { address } = await admin('POST /sign-in/provider', { returnTo: here + location.search })
  location.assign(address)
}

/** Finishes what was begun, and opens the page that it was begun on. */
export async function finishReturn(back: Exclude<Return, { problem: string }>): Promise<void> {
  if (back.state.startsWith('link.')) {
    await admin('POST /link/confirm', back)
    history.replaceState(null, '', '/console/account')
    return
  }
  const { returnTo = '/' } = await admin('POST /session/provider', back)
  history.replaceState(null, '', `/console${returnTo}`)
}
