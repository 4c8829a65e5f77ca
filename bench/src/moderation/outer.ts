import { setTimeout as delay } from 'node:timers/promises'
import { type ModerationEmulator, startModerationEmulator } from '@parley/server/emulators'
import pg from 'pg'
import type { AtEnd } from '../cleanup.ts'
import type { Goal } from '../goals.ts'
import { openClients } from '../live/clients.ts'
import { type Ask, createAsk } from '../live/people.ts'
import { progress } from '../progress.ts'
import { startService } from '../service.ts'

/** How long the engine takes to answer. */
const engineMs = 100
/** Each in a conversation of their own. */
const senders = Array.from({ length: 25 }, (_, i) => `sender${i}`)
const senderOf = (i: number): string => senders[i % senders.length] as string
const rule = {
  ...{ id: 'by-engine', name: 'By the engine', enabled: true, action: ['blockMessage'] },
  conditions: [{ operand: 'text', category: 'custom-api', value: ['engine_greaterThan_80'] }],
}

/** What asking an engine outside costs, and what becomes of messages that wait for one that is dead. */
export async function measureOuter(atEnd: AtEnd, isQuick: boolean): Promise<Goal[]> {
  const [engines, service] = await Promise.all([
    startModerationEmulator(),
    startService({ env: { WEBHOOK_ALLOW_PRIVATE: 'true', RATE_LIMITS: 'off' } }),
  ])
  atEnd(service.stop)
  atEnd(engines.close)
  const ask = createAsk(service)
  for (const uid of ['bob', ...senders]) await ask('POST', '/users', { uid, name: uid })
  const plain = await measurePlain(ask, isQuick ? 50 : 200)
  const list = { id: 'engine', name: 'Engine', category: 'custom-api', ...engines.customApi }
  await ask('POST', '/moderation/keywords', list)
  await ask('POST', '/moderation/rules', rule)
  const { authToken: token } = (await ask('POST', '/users/bob/auth_tokens', {})) as { authToken: string }
  const clients = await openClients(`ws://127.0.0.1:${service.port}/`, [{ uid: 'bob', token }])
  atEnd(clients.close)
  const arrivedAt = new Map<string, number>()
  clients.onMessage((frame) => {
    const [, text] = /"text":"(number \d+)"/.exec(frame) ?? []
    if (text !== undefined && !arrivedAt.has(text)) arrivedAt.set(text, performance.now())
  })
  const way = await measureWay(engines, ask, arrivedAt, isQuick ? 50 : 500)
  const database = new pg.Client(service.database)
  await database.connect()
  atEnd(() => database.end())
  return [...plain, ...way, ...(await measureDead(engines, ask, database, isQuick ? 200 : 1_000))]
}

/** What a send takes by itself on this machine at this moment, with which the rest is to be compared. */
async function measurePlain(ask: Ask, count: number): Promise<Goal[]> {
  const took: number[] = []
  const all: Array<Promise<unknown>> = []
  for (let i = 0; i < count; i++) {
    const beganAt = performance.now()
    all.push(ask('POST', '/messages', toBob('plain'), senderOf(i)).then(() => took.push(performance.now() - beganAt)))
    await delay(50)
  }
  await Promise.all(all)
  return shares('a send without rules, for comparison', took)
}

function shares(name: string, took: readonly number[], most = Number.POSITIVE_INFINITY): Goal[] {
  const sorted = [...took].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const goal = Number.isFinite(most) ? `< ${most} ms` : ''
  return [
    { name: `${name}: median`, goal: '', reached: ms(at(0.5)), met: true },
    { name: `${name}: p99`, goal, reached: ms(at(0.99)), met: at(0.99) < most },
  ]
}

/** Sends now and then, as people do; the engine answers each after the same time. */
async function measureWay(
  engines: ModerationEmulator,
  ask: Ask,
  arrivedAt: ReadonlyMap<string, number>,
  count: number,
): Promise<Goal[]> {
  progress('messages that wait for an engine')
  engines.behave(() => ({ delayMs: engineMs }))
  const sentAt: number[] = []
  const all: Array<Promise<unknown>> = []
  for (let i = 0; i < count; i++) {
    const sending = ask('POST', '/messages', toBob(`number ${i}`), senderOf(i))
    all.push(sending.then(() => (sentAt[i] = performance.now())))
    await delay(50)
  }
  await Promise.all(all)
  while (arrivedAt.size < count) await delay(20)
  const over = sentAt.map((at, i) => (arrivedAt.get(`number ${i}`) ?? Number.NaN) - at - engineMs)
  return shares('lane two, from the answer to the receiver, beside the engine', over, 30)
}

/** All are sent while the engine answers nobody; then it is dead. */
async function measureDead(engines: ModerationEmulator, ask: Ask, database: pg.Client, count: number): Promise<Goal[]> {
  progress('messages that wait for an engine that is dead')
  engines.behave(() => ({ delayMs: 60_000 }))
  const before = engines.calls.length
  const beganAt = performance.now()
  const ids: string[] = []
  for (let i = 0; i < count; i += 50) {
    const sent = Array.from({ length: Math.min(50, count - i) }, (_, k) =>
      ask('POST', '/messages', toBob(`dead ${i + k}`), senderOf(i + k)),
    )
    for (const message of (await Promise.all(sent)) as Array<{ id: string }>) ids.push(message.id)
  }
  const waiting = async () => {
    const { rows } = await database.query(
      'select count(*)::int as count from message_moderation where due_at is not null',
    )
    return rows[0].count as number
  }
  while ((await waiting()) > 0) await delay(50)
  const seconds = (performance.now() - beganAt) / 1000
  const { rows } = await database.query(
    'select count(*)::int as count from messages where id = any($1::bigint[]) and countable',
    [ids],
  )
  const lost = count - (rows[0].count as number)
  const asked = engines.calls.length - before
  return [
    { name: `engine dead with ${count} messages: lost`, goal: '0', reached: String(lost), met: lost === 0 },
    { name: 'the same: settled after', goal: '< 60 s', reached: `${seconds.toFixed(1)} s`, met: seconds < 60 },
    { name: 'the same: times that the engine was asked', goal: '', reached: String(asked), met: true },
  ]
}

function toBob(text: string): object {
  return { receiver: 'bob', receiverType: 'user', data: { text } }
}
