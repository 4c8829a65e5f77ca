import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { whenAtRest } from '../cpu.ts'
import { median } from '../measure.ts'
import { renderGoals, renderTable } from '../table.ts'
import { measureQuiet, type OthersWaits } from './loaded.ts'
import type { Side, TwoApps } from './world.ts'

const account = { email: 'bench@example.com', password: 'correct horse battery' }

/** Settings of a service with an operator. */
export const withOperator = { PARLEY_OPERATOR_EMAIL: account.email, PARLEY_OPERATOR_PASSWORD: account.password }

/** An operator opens another page so often, and each asks for all that it shows at once, as a browser does. */
const pageEveryMs = 1_000
/** How many times as long as when nobody looks the others may wait. */
const most = 2

const day = 86_400

/** What each page of the console asks for, below the app. */
function pagesOf(now: number): ReadonlyArray<readonly string[]> {
  const days = `/stats/daily?fromDate=${now - 30 * day}&toDate=${now}`
  const overview = [days, '/users?status=available&perPage=1', '/users?perPage=1', '/health']
  const tail = ['/messages?conversationId=group_crowd&affix=append&limit=50&onlyUpdates=true&updatedAt=']
  return [
    overview,
    ['/users?perPage=100&withTags=true'],
    ['/users?perPage=100&withTags=true&searchKey=an'],
    ['/users/busy', '/users/busy/sessions', '/audit-log?targetType=user&target=busy&limit=100'],
    ['/groups?perPage=100&withTags=true'],
    ['/groups/crowd', '/groups/crowd/members?perPage=100'],
    ['/conversations?unique=true&perPage=50'],
    ['/messages?conversationId=group_crowd&affix=prepend&limit=50', ...tail.map((path) => path + (now - 60))],
    ['/moderation/flagged-messages?limit=50&order=oldest', '/moderation/queue', '/readings'],
    ['/messages?searchKey=lorem&limit=50'],
    ['/notifications/v1/logs?limit=100'],
    ['/roles?perPage=100', '/apps/parley/settings', '/limits'],
    ['/audit-log?limit=100'],
  ]
}

export interface ConsoleWaits {
  readonly quiet: OthersWaits
  readonly open: OthersWaits
  /** Requests of the console, how long half of them took at most, and those that were refused. */
  readonly asked: number
  readonly p50: number
  readonly refused: ReadonlyMap<string, number>
}

/** How long others wait while an operator goes through the pages of the console. */
export async function measureConsole(world: TwoApps, seconds: number): Promise<ConsoleWaits> {
  const quiet = await measureQuiet(world, seconds)
  await whenAtRest(world.readCpu)
  const stop = new AbortController()
  const looking = look(world, stop.signal)
  await delay(2_000)
  const open = await measureQuiet(world, seconds)
  stop.abort()
  return { quiet, open, ...(await looking) }
}

async function look({ service }: TwoApps, signal: AbortSignal) {
  const agent = new Agent({ connections: 6 })
  const origin = `http://127.0.0.1:${service.port}`
  const ask = (method: 'GET' | 'POST', path: string, cookie: string, body?: object) =>
    request(`${origin}/admin/v1${path}`, {
      ...{ dispatcher: agent, method },
      headers: { origin, cookie, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const signedIn = await ask('POST', '/session', '', account)
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? ''
  await signedIn.body.dump()
  await (await ask('POST', '/apps/parley/readings', cookie, { of: '*', reason: 'the bench' })).body.dump()
  const times: number[] = []
  const refused = new Map<string, number>()
  const one = async (path: string) => {
    const from = performance.now()
    const { statusCode, body } = await ask('GET', `/apps/parley${path}`, cookie)
    await body.dump({ limit: 64 * 1024 * 1024 })
    times.push(performance.now() - from)
    if (statusCode !== 200) refused.set(`${statusCode} ${path}`, (refused.get(`${statusCode} ${path}`) ?? 0) + 1)
  }
  for (let turn = 0; !signal.aborted; turn++) {
    const pages = pagesOf(Math.floor(Date.now() / 1000))
    const next = delay(pageEveryMs)
    await Promise.all([...(pages[turn % pages.length] ?? []).map(one), next])
  }
  await agent.close()
  return { asked: times.length, p50: median(times), refused }
}

const sides: readonly Side[] = ['same app', 'other app']

export function renderConsole(machine: string, { quiet, open, asked, p50, refused }: ConsoleWaits): string {
  const rows = Object.entries({ 'nobody looks': quiet, 'a console is open': open }).flatMap(([situation, waits]) =>
    sides.map((side) => {
      const { count, p50, p99, max, refused } = waits[side]
      return [situation, `the ${side}`, String(count), p50.toFixed(1), p99.toFixed(1), max.toFixed(1), String(refused)]
    }),
  )
  const goals = sides.map((side) => {
    const times = open[side].p99 / quiet[side].p99
    return {
      name: `p99 of a user's conversations in the ${side}, with a console open to without`,
      goal: `at most ${most}, none refused`,
      reached: times.toFixed(2),
      met: times <= most && open[side].refused === 0,
    }
  })
  return [
    machine,
    '',
    ...renderTable(['conversations of a user', 'in', 'asked', 'p50 ms', 'p99 ms', 'at most ms', 'refused'], rows),
    '',
    `The console asked ${asked} times (p50 ${p50.toFixed(0)} ms).`,
    ...[...refused].map(([what, count]) => `Refused ${count} times: ${what}`),
    '',
    ...renderGoals(goals),
  ].join('\n')
}
