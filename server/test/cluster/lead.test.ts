import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Log } from '../../src/log.ts'
import { isConnectionFailure } from '../../src/store/connection.ts'
import { openDatabase } from '../../src/store/database.ts'
import { createLead, type Lead } from '../../src/store/lead.ts'
import { statement } from '../../src/store/statement.ts'
import { signalDatabase } from '../faults/support/database.ts'
import { type ExternalServer, startExternalServer } from '../faults/support/external.ts'
import { createStage } from '../faults/support/stage.ts'
import { until } from '../support/until.ts'

const stage = createStage()
let server: ExternalServer
let url: string

beforeAll(async () => {
  server = await startExternalServer(stage)
  url = await server.newDatabase('led')
})
afterAll(() => stage.clean())

const silentMs = 1_500
let lastLock = 8_000_000_000

interface Process {
  readonly lead: Lead
  /** What was logged, by level. */
  readonly said: Array<{ readonly level: 'info' | 'warn' | 'error'; readonly text: string }>
}

/** Two processes that want to lead the same. */
function startTwo(urls: readonly [string, string] = [url, url]): [Process, Process] {
  const lock = ++lastLock
  return urls.map((connectionString) => {
    const database = openDatabase({ connectionString })
    onTestFinished(() => database.close())
    const said: Process['said'] = []
    const at = (level: 'info' | 'warn' | 'error') => (_: object, text: string) => void said.push({ level, text })
    const log = { info: at('info'), warn: at('warn'), error: at('error') } as unknown as Log
    return { lead: createLead(database.openChannel('lead'), { lock, work: 'test', log, silentMs }), said }
  }) as [Process, Process]
}

const leads = async ({ lead }: Process) => (await lead.take()) !== undefined
const answer = (number: number) => statement(`select ${number} as answer`)

/** Asks for the lead again and again, much longer than a process may be silent. @returns whether it was got */
async function getsIt(process: Process): Promise<boolean> {
  const end = performance.now() + 3 * silentMs
  const progress = () => Math.floor(performance.now() / 500)
  let isGot = false
  await until(
    async () => {
      isGot = await leads(process)
      return isGot || performance.now() > end
    },
    { progress },
  )
  return isGot
}

it('who leads and stands still loses its session to another; what it asks later fails, and it follows', async () => {
  const [first, second] = startTwo()
  expect(await leads(first)).toBe(true)
  expect((await first.lead.channel.query(answer(1))).rows).toEqual([{ answer: 1 }])
  expect(await leads(second)).toBe(false)
  await until(() => leads(second))
  expect(second.said).toEqual([
    {
      level: 'warn',
      text: 'the process that leads this work stands still: its database session was ended, so that another takes over',
    },
  ])
  const asked = [
    () => first.lead.channel.query(answer(2)),
    () => first.lead.channel.transaction([answer(3), answer(4)]),
    () => first.lead.channel.interact((tx) => tx.query(answer(5))),
  ]
  for (const ask of asked) {
    const error = await ask().catch((error: unknown) => error)
    expect(isConnectionFailure(error), String(error)).toBe(true)
  }
  expect(await leads(first)).toBe(false)
  expect(first.said).toEqual([{ level: 'info', text: 'another process leads this work now' }])
  await second.lead.release()
  expect(await leads(first)).toBe(true)
})

it('who waits for something else, and says so, goes on to lead', async () => {
  const [first, second] = startTwo()
  expect(await leads(first)).toBe(true)
  const ended = new AbortController()
  const working = first.lead.during(delay(3_600_000, undefined, { signal: ended.signal })).catch(() => {})
  expect(await getsIt(second)).toBe(false)
  ended.abort()
  await working
  expect(await leads(first)).toBe(true)
  expect(second.said).toEqual([])
})

it('who waits for the database goes on to lead', async () => {
  const [first, second] = startTwo()
  expect(await leads(first)).toBe(true)
  let isOver = false
  const asked = first.lead.channel.query({ text: `select pg_sleep(${(4 * silentMs) / 1000})` }).then(() => {
    isOver = true
  })
  expect(await getsIt(second)).toBe(false)
  expect(isOver).toBe(false)
  await asked
  expect(await leads(first)).toBe(true)
})

it('a database that stood still is no sign of a process that does', async () => {
  const [first, second] = startTwo()
  expect(await leads(first)).toBe(true)
  expect(await leads(second)).toBe(false)
  // Its look is under way while the database stands still, and is answered before the one who leads has had a turn.
  signalDatabase(server.dataDir, 'SIGSTOP')
  const asked = leads(second)
  const stoppedAt = performance.now()
  await until(() => performance.now() > stoppedAt + 2 * silentMs)
  signalDatabase(server.dataDir, 'SIGCONT')
  expect(await asked).toBe(false)
  expect(await leads(first)).toBe(true)
  expect(second.said).toEqual([])
})

it('where the role may not end the session, or see it, that is said once', async () => {
  const two = new URL(url)
  two.username = 'two'
  two.password = 'secret'
  const admin = openDatabase({ connectionString: url })
  onTestFinished(() => admin.close())
  await admin.query(statement(`create role two login password 'secret'`))
  const [first, second] = startTwo([url, two.href])
  expect(await leads(first)).toBe(true)
  expect(await getsIt(second)).toBe(false)
  expect(second.said).toMatchObject([
    { level: 'warn', text: expect.stringContaining('the database does not let this role see') },
  ])

  await admin.query(statement('grant pg_read_all_stats to two'))
  const [third, fourth] = startTwo([url, two.href])
  expect(await leads(third)).toBe(true)
  expect(await getsIt(fourth)).toBe(false)
  await until(async () => fourth.said.length > 0 || (await leads(fourth)))
  expect(fourth.said).toMatchObject([{ level: 'error', text: expect.stringContaining('may not end its session') }])
})
