declare const process: { env: Record<string, string | undefined> }

function need(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

export const baseUrl = need('PARLEY_URL')
export const headers = { apikey: need('PARLEY_API_KEY'), appId: need('PARLEY_APP_ID') }
/** Set before the users and groups of a program, which share an app. */
export const mine = need('PARLEY_PREFIX')

/** Fails where two values differ. */
export function same<Value>(found: Value | undefined, wanted: Value): void {
  if (found !== wanted) throw new Error(`found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`)
}
