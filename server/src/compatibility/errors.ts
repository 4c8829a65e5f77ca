import { errors } from '@parley/contract'

const begin = '<!-- error codes -->'
const end = '<!-- /error codes -->'

/** `docs/api.md` with its table of error codes as the contract declares them. */
export function withErrorCodes(page: string): string {
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from < 0 || to < from) throw new Error(`docs/api.md must have ${begin} and then ${end}`)
  return `${page.slice(0, from)}${begin}\n${describeErrors()}${page.slice(to)}`
}

function describeErrors(): string {
  const rows = Object.entries(errors).map(([code, { status, message }]) => `| \`${code}\` | ${status} | ${message} |\n`)
  return `\n| code | status | message |\n|---|---|---|\n${rows.join('')}\n`
}
