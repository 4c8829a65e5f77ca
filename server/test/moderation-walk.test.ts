import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ensureKey } from '../src/areas/api-keys/keys.ts'
import { startParley } from './http/watched.ts'
import { createOwnDatabase } from './support/own-database.ts'
import { soon } from './support/until.ts'
import { type Answer, send } from './support/world.ts'

/** A command of the document. */
interface Command {
  readonly method: string
  readonly path: string
  readonly as: string | undefined
  readonly body: object | undefined
}

/** What is different each time. */
const times = [
  'createdAt',
  'updatedAt',
  'sentAt',
  'finishedAt',
  'blockedAt',
  'flaggedAt',
  'openedAt',
  'from',
  'to',
  'day',
]

it.each([
  ['docs/moderation.md', 'From nothing to a queue'],
  ['docs/reviews.md', 'A queue in some minutes'],
])('%s, %s: each command is answered as the page says', async (file, section) => {
  // Ids of messages count from 1 in a database of one's own.
  const database = await createOwnDatabase()
  onTestFinished(() => database.drop())
  const service = await startParley({ connection: database.connection })
  onTestFinished(() => service.parley.close())
  const { context } = service.parley
  const app = await context.apps.ensure('parley', 'us')
  const apiKey = randomBytes(20).toString('hex')
  await ensureKey(context, app.appId, { apiKey, name: 'walk', scope: 'fullAccess' })
  const ask = async ({ method, path: at, as, body }: Command): Promise<Answer> => {
    const headers = { appid: 'parley', apikey: apiKey, ...(as !== undefined && { onbehalfof: as }) }
    const answer = await send(service.url, method, at, body, headers)
    expect(answer.status, `${method} ${at}: ${JSON.stringify(answer.body)}`).toBe(200)
    return answer
  }

  let answers: unknown[] = []
  let compared = 0
  for (const { language, text } of await blocksOf(file, section)) {
    if (language === 'sh') {
      answers = []
      for (const command of commandsIn(text)) {
        answers.push((await ask(command)).body)
        if (command.method !== 'POST' || !command.path.endsWith('/dry-run')) continue
        const look = { ...command, method: 'GET', body: undefined }
        await soon(async () => expect((await ask(look)).body.data.status).not.toBe('running'))
      }
      continue
    }
    // They are the answers to the last of the commands above.
    const expected = valuesIn(text)
    expect(answers.slice(-expected.length)).toMatchObject(expected)
    compared += expected.length
  }
  expect(compared).toBeGreaterThan(4)
})

/** The blocks of code in one section of a document. */
async function blocksOf(file: string, section: string): Promise<Array<{ language: string; text: string }>> {
  const whole = await readFile(path.join(import.meta.dirname, '../..', file), 'utf8')
  const [, rest = ''] = whole.split(`\n## ${section}\n`)
  const [own = ''] = rest.split('\n## ')
  return [...own.matchAll(/```(\w+)\n([\s\S]*?)\n```/g)].map(([, language = '', text = '']) => ({ language, text }))
}

function commandsIn(text: string): Command[] {
  return text
    .split(/\n(?=(?:api|call) )/)
    .filter((line) => /^(?:api|call) /.test(line))
    .map((line) => {
      const [, method, at] = /^\w+ (\w+) (\S+)/.exec(line) ?? []
      if (method === undefined || at === undefined) throw new Error(`no command: ${line}`)
      const [, as] = /-H 'onBehalfOf: (\w+)'/.exec(line) ?? []
      const [, body] = /-d '([^']*)'/.exec(line) ?? []
      return { method, path: at, as, body: body === undefined ? undefined : (JSON.parse(body) as object) }
    })
}

/** Each begins at the beginning of a line. */
function valuesIn(text: string): unknown[] {
  return text
    .split(/\n(?=\{)/)
    .map((value) => JSON.parse(value, (key, member) => (times.includes(key) ? undefined : member)))
}
