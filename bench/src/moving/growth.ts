import { type CpuTimes, cpuBetween } from '../cpu.ts'
import type { Goal } from '../goals.ts'
import { cpuSeconds, familyCpuSeconds } from '../processes.ts'
import type { Service } from '../service.ts'
import { renderTable } from '../table.ts'
import { runCommand } from './command.ts'

/** How far an import was at some time. */
interface Mark {
  readonly messages: number
  /** Since it began, all that comes before messages included. */
  readonly seconds: number
  readonly cpu: CpuTimes | undefined
}

export interface Growth {
  readonly messages: number
  /** The whole command, with users, groups, members and the comparison at the end. */
  readonly seconds: number
  /** Megabytes that the command had at most. */
  readonly memory: number
  readonly marks: readonly Mark[]
}

const manyMessages = 10_000_000
const mostMinutes = 15
const tableRows = 10

/** Imports a folder by `parley import`, and tells how fast it was as the tables grew. */
export async function importAndWatch(service: Service, folder: string, messages: number): Promise<Growth> {
  const startedAt = performance.now()
  const marks: Mark[] = []
  const args = [folder, '--url', `http://127.0.0.1:${service.port}`, '--apikey', service.apiKey]
  const taken = await runCommand('import', args, (said, pid) => {
    const [, count] = /^messages: .*?, ([\d,]+) records/m.exec(said) ?? []
    if (count === undefined) return
    const seconds = (performance.now() - startedAt) / 1000
    marks.push({ messages: Number(count.replaceAll(',', '')), seconds, cpu: readCpu(service, pid) })
  })
  return { messages, ...taken, marks }
}

function readCpu({ pid, postgresPid }: Service, command: number): CpuTimes | undefined {
  const [service, postgres, load] = [cpuSeconds(pid), familyCpuSeconds(postgresPid), cpuSeconds(command)]
  return service === undefined || postgres === undefined || load === undefined ? undefined : { service, postgres, load }
}

/** The curve as a table, a row for about each tenth. */
export function renderGrowth({ marks }: Growth): string[] {
  const step = Math.max(1, Math.ceil((marks.length - 1) / tableRows))
  const chosen = marks.filter((_, place) => place % step === 0 || place === marks.length - 1)
  const rows = chosen.flatMap((mark, place) => {
    const before = chosen[place - 1]
    if (before === undefined || mark.messages === before.messages) return []
    const count = mark.messages - before.messages
    const used = cpuBetween(before.cpu, mark.cpu)
    const each = (seconds: number | undefined) => (seconds === undefined ? '' : ((seconds * 1e6) / count).toFixed(0))
    return [
      [
        mark.messages.toLocaleString('en-US'),
        Math.round(count / (mark.seconds - before.seconds)).toLocaleString('en-US'),
        ...[used?.service, used?.postgres, used?.load].map(each),
      ],
    ]
  })
  return renderTable(['messages', 'a second since the row above', 'service us', 'PostgreSQL us', 'command us'], rows)
}

/** What ten million would take: as this one took in all, and at the rate of its second half. */
export function judgeGrowth({ messages, seconds, memory, marks }: Growth): Goal[] {
  const minutes = ((seconds / messages) * manyMessages) / 60
  const middle = marks.find((mark) => mark.messages >= messages / 2)
  const last = marks.at(-1)
  const isCurve = middle !== undefined && last !== undefined && last.messages > middle.messages
  const late = isCurve ? (last.messages - middle.messages) / (last.seconds - middle.seconds) : undefined
  const told = (name: string, reached: string): Goal => ({ name, goal: '', reached, met: true })
  return [
    told(
      'the whole import',
      `${seconds.toFixed(1)} s, ${Math.round(messages / seconds).toLocaleString('en-US')} a second`,
    ),
    told('memory of the command, at most', `${memory.toFixed(0)} MB`),
    {
      name: 'ten million, reckoned by all of it',
      goal: `below ${mostMinutes} min`,
      reached: `${minutes.toFixed(1)} min`,
      met: minutes < mostMinutes,
    },
    ...(late === undefined
      ? []
      : [told('the same by its second half', `${(manyMessages / late / 60).toFixed(1)} min`)]),
  ]
}
