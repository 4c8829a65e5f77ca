import { setTimeout as delay } from 'node:timers/promises'
import { type LiveFigure, rate } from '../live/figures.ts'
import { progress } from '../progress.ts'
import { textTo } from '../requests.ts'
import { cpuFigures, fillGroup, fillSingle } from './backlog.ts'
import { type Cpu, eachOf, type NotifyWorld, uidOf } from './world.ts'

const goal = 10_000

/** How many notifications are decided and logged a second where do not disturb stops all of them. */
export async function measureDecisions(world: NotifyWorld): Promise<LiveFigure[]> {
  const { backlog, groups } = world.extent
  const members = groups[0] as number
  const messages = Math.ceil((2 * backlog) / (members - 1))
  const disturb = (dndPreferenceSetting: number) =>
    world.ask('PATCH', '/notifications/v1/settings', { preferences: { mute: { dndPreferenceSetting } } })
  await disturb(2)
  const grouped = await decide(world, messages * (members - 1), () => fillGroup(world, members, messages))
  const single = await decide(world, backlog, () => fillSingle(world, backlog))
  await disturb(1)
  return [
    {
      what: `decisions where do not disturb stops all, messages to a group of ${members}`,
      value: rate(grouped.perSecond),
      goal: `at least ${rate(goal)}`,
      met: grouped.perSecond >= goal,
    },
    ...cpuFigures('the same', 'decision', grouped.cpu),
    { what: 'the same, messages from user to user', value: rate(single.perSecond) },
    ...cpuFigures('messages from user to user', 'decision', single.cpu),
  ]
}

interface Decided {
  readonly perSecond: number
  /** Microseconds for each decision. */
  readonly cpu: Cpu | undefined
}

/** Holds planning up while the messages are sent, so that nothing else is under way when it is measured. */
async function decide(world: NotifyWorld, expected: number, send: () => Promise<void>): Promise<Decided> {
  const { database, ask } = world
  progress(`${expected} decisions`)
  const before = await countLogged(world)
  // As if all that is to come were planned already.
  const { rows } = await database.query<{ event: string }>('select event from notification_plans')
  await database.query('update notification_plans set event = 9000000000000000')
  await send()
  await delay(2_000)
  await database.query('update notification_plans set event = $1', [rows[0]?.event])
  const cpuBefore = world.readCpu()
  const startedAt = performance.now()
  // Its event begins the planning.
  await ask('POST', '/messages', textTo(uidOf(1)), uidOf(0))
  // Counting what is logged, again and again, would cost the database more than all that is measured.
  while (!(await isPlanned(world))) await delay(20)
  const perSecond = (expected / (performance.now() - startedAt)) * 1000
  const cpu = eachOf(expected, cpuBefore, world.readCpu())
  const logged = (await countLogged(world)) - before
  if (logged <= expected) throw new Error(`${logged} decisions are in the log instead of ${expected + 1}`)
  return { perSecond, cpu }
}

/** Whether everything that has happened is planned; the position moves in the statement that writes what was decided. */
async function isPlanned({ database }: NotifyWorld): Promise<boolean> {
  const { rows } = await database.query<{ done: boolean }>(
    `select p.event >= (select max(e.id) from events e where e.app_id = p.app_id) as done from notification_plans p`,
  )
  return rows.every(({ done }) => done)
}

async function countLogged({ database }: NotifyWorld): Promise<number> {
  const { rows } = await database.query<{ count: string }>('select count(*) as count from notification_deliveries')
  return Number(rows[0]?.count)
}
