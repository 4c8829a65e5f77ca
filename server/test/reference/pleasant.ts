import { createHash } from 'node:crypto'
import type { Ids } from '../http/samples.ts'
import type { World } from '../support/world.ts'

/** The things of the world of the examples, by the names that they have there. */
export const pleasantIds: Ids = {
  alice: 'alice',
  bob: 'bob',
  carol: 'carol',
  dave: 'dave',
  erin: 'erin',
  team: 'team',
  messageId: '101',
  groupMessageId: '103',
  conversationId: 'alice_user_bob',
  interactiveId: '102',
  helper: 'helper',
  role: 'editor',
  apiKey: hex('an API key', 40),
  authToken: `alice_1767607200${hex('a token', 30)}`,
  appId: 'our-app',
  webhook: 'our-hook',
  pushToken: 'alice-device',
  provider: 'phones',
  deliveryId: 'dlv-1',
  logId: '901',
  rule: 'no-insults',
  list: 'insults',
  reason: 'off-topic',
  flaggedId: '104',
  blockedId: '105',
  noteId: '801',
}

/** Monday, 5 January 2026, 10:00 UTC. */
const now = 1_767_607_200

/** Where ids are counted from while examples are recorded, so that no other number looks like one. */
export const firstIds = { message_ids: 7_000_000, reaction_ids: 8_000_000, event_ids: 9_000_000 } as const

const places = [
  { pattern: /\b70\d{5}\b/g, from: 111 },
  { pattern: /\b80\d{5}\b/g, from: 301 },
  { pattern: /\b90\d{5}\b/g, from: 501 },
]

/** That of the example in RFC 8291. */
const publicKey = 'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8'

function hex(of: string, length: number): string {
  return createHash('sha512').update(of).digest('hex').slice(0, length)
}

/**
 * The same value with pleasant ids, times, keys and addresses in place of those of one run: the same each time, and alike where
 * they were alike.
 * @param began epoch seconds when the world was made
 */
export function pleasantly<Value>(value: Value, world: World, ids: Ids, began: number): Value {
  const text = JSON.stringify(value)
  const known = new Map<string, string>()
  for (const name of Object.keys(pleasantIds) as (keyof Ids)[]) known.set(ids[name], pleasantIds[name])
  known.set(world.app.name, pleasantIds.appId)
  known.delete('')
  for (const { pattern, from } of places) {
    const found = [...new Set(text.match(pattern) ?? [])].filter((id) => !known.has(id)).sort()
    for (const [at, id] of found.entries()) known.set(id, String(from + at))
  }
  // Short numbers are ids only where they stand alone.
  const chances = [...known]
    .filter(([found, pleasant]) => found !== pleasant && !/^\d{1,6}$/.test(found))
    .sort(([a], [b]) => b.length - a.length)
  const hosts: [string, string][] = [
    [world.url, 'https://chat.example.com'],
    [new URL(world.url).host, 'chat.example.com'],
  ]
  const secrets = new Map<string, string>()
  const secret = (found: string, make: (name: string) => string): string => {
    const made = secrets.get(found) ?? make(`secret ${secrets.size}`)
    secrets.set(found, made)
    return made
  }

  const ofText = (sent: string): string => {
    if (sent === new URL(world.url).port) return '443'
    if (/^-----BEGIN (PRIVATE|EC PRIVATE) KEY-----/.test(sent)) return '-----BEGIN PRIVATE KEY-----\n...'
    if (/^-----BEGI.{0,20}$/s.test(sent) || sent.startsWith('-----B')) return '-----B...'
    const whole = known.get(sent)
    if (whole !== undefined) return whole
    let said = sent
    for (const [found, pleasant] of [...hosts, ...chances]) {
      said = said
        .split(new RegExp(`(?<![\\w-])${escaped(found)}(?![\\w-])|(?<=^|_)${escaped(found)}(?=_)`))
        .join(pleasant)
    }
    return said
      .replaceAll(/\bwhsec_[\w+/=]{20,}/g, (found) =>
        secret(found, (name) => `whsec_${Buffer.from(hex(name, 48), 'hex').toString('base64')}`),
      )
      .replaceAll(/_[0-9]{10}[0-9a-f]{30}\b/g, (found) => secret(found, (name) => `_${now}${hex(name, 30)}`))
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (found) =>
        secret(found, (name) =>
          hex(name, 32)
            .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-7$3-8$4-$5')
            .slice(0, 36),
        ),
      )
      .replaceAll(/\b(?=[0-9a-f]*[a-f])[0-9a-f]{24,64}\b/g, (found) =>
        Object.values(pleasantIds).includes(found) ? found : secret(found, (name) => hex(name, found.length)),
      )
      .replaceAll(/\b1[0-9]{9}(?:[0-9]{3})?\b(?:\.[0-9]{15})?/g, ofTime)
      .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]{8,12}Z/g, () => new Date(now * 1000).toISOString())
      .replaceAll(/(?<=, it is )\d{4}(?= in UTC)/g, '1000')
      .replaceAll(/^B[\w-]{86}$/g, publicKey)
      .replaceAll(/(?<=signature=)[\w-]+/g, (found) => secret(found, (name) => hex(name, 43)))
  }
  const ofTime = (digits: string): string => {
    const [whole = '', fraction] = digits.split('.')
    const told = whole.length === 13 ? ofMoment(Number(whole) / 1000) * 1000 : ofMoment(Number(whole))
    return `${told}${fraction === undefined ? '' : `.${'0'.repeat(fraction.length)}`}`
  }
  const ofMoment = (seconds: number): number => {
    const since = Math.floor(seconds) - began
    if (Math.abs(since) > 40 * 86_400) return seconds
    // The bounds of stretches of time stay such.
    const step = [86_400, 300].find((one) => seconds % one === 0)
    if (step === undefined) return Math.abs(since) < 30 ? now : now + Math.round(since / 60) * 60
    return seconds - Math.floor(began / step) * step + Math.floor(now / step) * step
  }
  const walk = (inner: unknown, name = ''): unknown => {
    if (typeof inner === 'string') return ofText(inner)
    if (typeof inner === 'number' && /(durationMs|took|Ms)$/.test(name)) return 12
    if (typeof inner === 'number' && /Age$/.test(name)) return 1
    if (typeof inner === 'number' && /^1[0-9]{9}(?:[0-9]{3})?$/.test(String(inner)))
      return Number(ofTime(String(inner)))
    if (typeof inner === 'number' && known.has(String(inner)) && inner > 1e6) return Number(known.get(String(inner)))
    if (Array.isArray(inner)) return inner.map((one) => walk(one, name))
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [ofText(key), walk(one, key)]))
  }
  return walk(JSON.parse(text)) as Value
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
