import { setTimeout as delay } from 'node:timers/promises'
import { type Bench, runPlan } from '../bench.ts'
import { type CpuTimes, cpuBetween } from '../cpu.ts'
import type { Run, Scenario } from '../measure.ts'
import { readIndexedId, readLastId, whenIndexed } from '../search-index.ts'
import { sendsInTurn } from './sends.ts'

/** How far the search index may be behind, in seconds. */
const allowedBehind = 10

/**
 * Sends for minutes, with what they leave to be done later: when it ends, every message that was sent more than ten
 * seconds before must be in the search index, and the time until it is counts as if it were still sending.
 */
export function sustainedSends(bench: Bench): Scenario {
  const seconds = bench.extent.sustained
  return {
    id: 'sustained',
    name: `Sends into existing conversations for ${seconds} s with their search index, 64 connections`,
    beside: ['send-existing-64'],
    run: () => sendAndIndex(bench, seconds),
  }
}

async function sendAndIndex(bench: Bench, seconds: number): Promise<Run> {
  const { database, service, readCpu, extent } = bench
  const connections = sendsInTurn(bench, 64)
  const sending = runPlan(bench, { port: service.port, connections, repeat: true, warmup: extent.warmup, seconds })
  const early = delay(Math.max(0, extent.warmup + seconds - allowedBehind) * 1000).then(() => readLastId(database))
  const [run, allowedId] = await Promise.all([sending, early])
  const from = readCpu()
  const late = await whenIndexed(database, allowedId)
  const cpu = addCpu(run.cpu, cpuBetween(from, readCpu()))
  const lastId = await readLastId(database)
  const missing = Math.max(0, lastId - (await readIndexedId(database)))
  const rest = await whenIndexed(database, lastId)
  return {
    ...run,
    seconds: run.seconds + late,
    cpu,
    note:
      `${run.count} messages in ${run.seconds.toFixed(1)} s. After ${late.toFixed(1)} s more, which count, the search ` +
      `index had all but those of the last ${allowedBehind} s; it lacked ${missing} then, and none ${rest.toFixed(1)} s later.`,
  }
}

function addCpu(a: CpuTimes | undefined, b: CpuTimes | undefined): CpuTimes | undefined {
  if (a === undefined || b === undefined) return undefined
  return { service: a.service + b.service, postgres: a.postgres + b.postgres, load: a.load + b.load }
}
