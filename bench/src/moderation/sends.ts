import { setTimeout as delay } from 'node:timers/promises'
import { type Bench, repeat, times } from '../bench.ts'
import type { AtEnd } from '../cleanup.ts'
import { progress } from '../progress.ts'
import { credentials, postRequest } from '../requests.ts'
import { prepareSends, warmUp } from '../scenarios/sends.ts'
import { startBench } from '../start.ts'
import { type Corpus, patterns } from './corpus.ts'

/** What sends cost with rules, beside what they cost without any. */
export interface SendCosts {
  readonly terms: number
  /** Medians of the pairs: sends a second with rules, of those without. */
  readonly throughput: number
  /** The same of the service's CPU for one send. */
  readonly cpu: number
}

const connections = 64
/** A list has a megabyte at most. */
const termsOfList = 50_000
const inForceMs = 3000

/** Sends texts of 120 characters, in turn without rules and with them, so that slow minutes hit both alike. */
export async function measureSends(atEnd: AtEnd, corpus: Corpus, extent: Bench['extent']): Promise<SendCosts[]> {
  const bench = await startBench(atEnd, extent)
  await prepareSends(bench)
  await warmUp(bench)
  const plan = requests(bench, corpus)
  const costs: SendCosts[] = []
  for (const terms of [10_000, 100_000]) {
    const lists = await makeLists(bench, corpus.terms(terms))
    await ask(bench, 'POST', '/moderation/rules', ruleOf(lists, true))
    await delay(inForceMs)
    // What rules do often is yet to be compiled, like all else.
    await measure(bench, plan)
    await ask(bench, 'PUT', '/moderation/rules/bench', ruleOf(lists, false))
    await delay(inForceMs)
    const pairs: Array<{ throughput: number; cpu: number }> = []
    for (let round = 0; round < extent.rounds; round += 1) {
      progress(`sends, ${terms} terms, round ${round + 1} of ${extent.rounds}`)
      const without = await measure(bench, plan)
      await ask(bench, 'PUT', '/moderation/rules/bench', ruleOf(lists, true))
      await delay(inForceMs)
      const beside = await measure(bench, plan)
      await ask(bench, 'PUT', '/moderation/rules/bench', ruleOf(lists, false))
      await delay(inForceMs)
      pairs.push({ throughput: beside.perSecond / without.perSecond, cpu: beside.cpu / without.cpu })
    }
    const middle = (values: number[]) => values.sort((one, other) => one - other)[values.length >> 1] ?? 0
    costs.push({
      terms,
      throughput: middle(pairs.map(({ throughput }) => throughput)),
      cpu: middle(pairs.map(({ cpu }) => cpu)),
    })
    await ask(bench, 'DELETE', '/moderation/rules/bench')
  }
  return costs
}

function requests({ service: { apiKey } }: Bench, { texts }: Corpus): string[][] {
  const ascii = texts.filter((text) => /^[\x20-\x7e]*$/.test(text))
  return times(connections, (c) =>
    times(40, (i) => {
      const body = { receiver: `p${c}-${i % 4}-b`, receiverType: 'user', category: 'message', type: 'text' }
      const data = { text: ascii[(c * 40 + i) % ascii.length] }
      return postRequest('/v3/messages', { ...body, data }, { apiKey, as: `p${c}-${i % 4}-a` })
    }),
  )
}

async function measure(bench: Bench, plan: string[][]): Promise<{ perSecond: number; cpu: number }> {
  const { count, seconds, cpu, failures, firstFailure } = await repeat(bench, bench.service.port, plan)
  if (failures > 0 || cpu === undefined) throw new Error(`Sends failed, or CPU is not known: ${firstFailure}`)
  return { perSecond: count / seconds, cpu: cpu.service / count }
}

/** Makes lists of words, as large as they may be. @returns their ids */
export async function makeLists(bench: Bench, terms: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (let from = 0; from < terms.length; from += termsOfList) {
    const id = `bench-${terms.length}-${ids.length}`
    const form = new FormData()
    const file = new Blob([terms.slice(from, from + termsOfList).join('\n')], { type: 'text/csv' })
    for (const [name, value] of Object.entries({ id, name: id, category: 'word' })) form.set(name, value)
    form.set('file', file, 'terms.csv')
    await ask(bench, 'POST', '/moderation/keywords', form)
    ids.push(id)
  }
  return ids
}

const shared = { entity: 'message', operand: 'text', operator: 'contains' } as const

/** A rule with these lists and twenty patterns. */
export function ruleOf(lists: readonly string[], enabled: boolean): object {
  return {
    id: 'bench',
    name: 'Bench',
    enabled,
    action: ['flagMessage'],
    conditions: [
      { id: 1, ...shared, category: 'word', isKeywordsReferencePresent: true, value: lists },
      { id: 2, ...shared, category: 'pattern', isKeywordsReferencePresent: false, value: patterns },
    ],
  }
}

async function ask({ service }: Bench, method: string, path: string, body?: object): Promise<void> {
  const isForm = body instanceof FormData
  const answer = await fetch(`http://127.0.0.1:${service.port}/v3${path}`, {
    method,
    headers: { ...credentials(service), ...(body && !isForm && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
}
