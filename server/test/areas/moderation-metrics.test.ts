import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, say } from '../support/chat.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { flag, review } from '../support/review.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'

let own: OwnServices
beforeAll(async () => {
  own = await createOwnServices()
})
afterEach(() => own.stop())
afterAll(() => own.close())

describe('The metrics of the review queue', () => {
  it('count what the lists show: nothing that was deleted, and what is blocked once', async () => {
    const service = await own.start()
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const condition = { operand: 'text', category: 'word', value: ['bad'] }
    const rule = { id: 'no-bad', name: 'No bad words', enabled: true, conditions: [condition] }
    dataOf(await world.post('/moderation/rules', rule))
    const sent: string[] = []
    for (const text of ['bad', 'bad, too', 'one', 'two', 'three'])
      sent.push((await say(world, 'alice', 'bob', text)).id)
    const [blocked = '', gone = '', flagged = '', deleted = '', stopped = ''] = sent
    for (const id of [flagged, deleted, stopped]) dataOf(await flag(world, id, 'bob'))
    const metrics = async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      const of = (name: string, list: string) =>
        Number(new RegExp(`^${name}\\{list="${list}"\\} (.+)$`, 'm').exec(text)?.[1])
      return { flagged: of('parley_moderation_queue', 'flagged'), blocked: of('parley_moderation_queue', 'blocked') }
    }
    expect(await metrics()).toEqual({ flagged: 3, blocked: 2 })
    for (const id of [gone, deleted]) dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    dataOf(await review(world, 'flagged', stopped, { status: 'disapproved' }))
    expect(await metrics()).toEqual({ flagged: 1, blocked: 1 })
    expect(
      dataOf(await world.get('/moderation/blocked-messages')).map(
        ({ message }: { message: { id: string } }) => message.id,
      ),
    ).toEqual([blocked])
    await own.query("update moderation_queue set status = 'open' where message = $1", [Number(stopped)])
    expect(await metrics()).toEqual({ flagged: 1, blocked: 1 })
  })
})

describe('A message on which patterns take too long', () => {
  it('is judged by the others, and counted', async () => {
    const service = await own.start()
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const large = Array.from({ length: 10 }, (_, index) => `[a-n][^#]{${900 + index}}[r-z]`)
    const rule = (id: string, value: string[]) => ({
      ...{ id, name: id, enabled: true, conditions: [{ operand: 'text', category: 'pattern', value }] },
    })
    dataOf(await world.post('/moderation/rules', rule('large', large)))
    dataOf(await world.post('/moderation/rules', rule('small', ['q7{3}q'])))
    // The Thue-Morse sequence: it repeats nothing, so that nearly each character leads to a state that is not known.
    const parity = (number: number): number => (number === 0 ? 0 : (number & 1) ^ parity(number >> 1))
    const hostile = Array.from({ length: 9_000 }, (_, index) => (parity(index) === 0 ? 'a' : 'p')).join('')
    const statusOf = async (text: string) => (await say(world, 'alice', 'bob', text)).data.moderation.status
    expect(await statusOf(hostile)).toBe('approved')
    expect(await statusOf(`${hostile} q777q`)).toBe('disapproved')
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain(`parley_moderation_terms_cut_total{app="${world.app.name}"} 20`)
  })
})

describe('Figures of moderation', () => {
  it.each([
    ['/v3/moderation/stats', 'moderation_decisions'],
    ['/v3/moderation/stats', 'moderation_flags'],
    ['/v3/moderation/stats', 'moderation_reviews'],
    ['/metrics', 'moderation_decisions'],
    ['/metrics', 'moderation_queue'],
  ])('are read where other long reads are, beside the look-ups: %s of %s', async (path, table) => {
    const service = await own.start()
    const world = await createWorld(service)
    const unlock = await own.lock(`lock table ${table}`)
    const headers = { appid: world.app.name, apikey: world.apiKey }
    const asking = fetch(`${service.url}${path}`, { headers })
    const waiting = () =>
      own.query<{ name: string }>(`
        select application_name as name from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%count(%${table}%'`)
    const found = await until(async () => {
      const rows = await waiting()
      return rows.length > 0 && rows
    })
    await unlock()
    for (const { name } of found) expect(name).toMatch(/^parley (quick )?list [0-9]+$/)
    expect((await asking).status).toBe(200)
  })
})
