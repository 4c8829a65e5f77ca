/** Prints `docs/client-calls.md`: every function of the client, and the operation that it stands for. Part of `npm run client:types`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverAreas, userAreas } from '@parley/client/areas'

const file = join(import.meta.dirname, '../../docs/client-calls.md')

/** @returns the text of `docs/client-calls.md` */
export function print() {
  const ofUsers = new Set(rowsOf(userAreas).map(([name]) => name))
  const rows = rowsOf(serverAreas).map(
    ([name, key]) => `| \`${name}\` | \`${key.split('?')[0]}\` | ${ofUsers.has(name) ? 'front ends too' : ''} |`,
  )
  return `# Calls of the client

Every function of [the client](client.md), and the operation that it calls; \`/docs\` of a running service says what each does. This page is
made by \`npm run client:types\`.

| function | operation | |
|---|---|---|
| \`messages.sendToMany\` | \`POST /messages\` with \`multipleReceivers\` | front ends too |
| \`messages.count\` | \`GET /messages\` with \`count\` | front ends too |
| \`messages.upload\` | \`POST /files/upload-url\`, and the files | front ends too |
| \`groups.join\` | \`POST /groups/{guid}/members\` | front ends too |
${rows.join('\n')}
`
}

function rowsOf(table, before = '') {
  return Object.entries(table).flatMap(([name, value]) =>
    typeof value === 'string' ? [[`${before}${name}`, value]] : rowsOf(value, `${before}${name}.`),
  )
}

if (process.argv[1] === import.meta.filename) {
  const text = print()
  if (text !== readFileSync(file, { encoding: 'utf8', flag: 'a+' })) writeFileSync(file, text)
}
