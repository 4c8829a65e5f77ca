import type { ModerationEmulator } from '../../src/emulators/moderation.ts'
import { dataOf } from './chat.ts'
import { soon } from './until.ts'
import { createUsers, createWorld, type World } from './world.ts'

/** An app with alice and bob, and a rule that blocks what its own engine finds bad. */
export async function engineWorld(
  engines: ModerationEmulator,
  service?: Parameters<typeof createWorld>[0],
): Promise<World> {
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob')
  await addEngineList(world, 'api', engines)
  await addRule(world, 'by-api', { condition: { category: 'custom-api', value: ['api_greaterThan_80'] } })
  return world
}

/** A list of category custom-api. @param path behind the emulator's address */
export async function addEngineList(world: World, id: string, { customApi }: ModerationEmulator, path = '') {
  const list = { id, name: id, category: 'custom-api', ...customApi, url: `${customApi.url}${path}` }
  return dataOf(await world.post('/moderation/keywords', list))
}

interface RuleOptions {
  readonly condition?: object
  readonly conditions?: readonly object[]
  readonly action?: readonly string[]
  readonly mode?: 'off' | 'shadow' | 'on'
}

export async function addRule(world: World, id: string, options: RuleOptions) {
  const { condition, conditions = [condition], action = ['blockMessage'], mode = 'on' } = options
  const all = conditions.map((one) => ({ operand: 'text', ...one }))
  return dataOf(await world.post('/moderation/rules', { id, name: `Rule ${id}`, mode, action, conditions: all }))
}

/** Where moderation stands with a message, for the app. */
export async function statusOf(world: World, id: string): Promise<string | undefined> {
  return dataOf(await world.get(`/messages/${id}`)).data.moderation?.status
}

/** Waits until moderation has settled a message. */
export async function settledAs(world: World, id: string, status: 'approved' | 'disapproved'): Promise<void> {
  await soon(async () => {
    const now = await statusOf(world, id)
    if (now === 'pending' || now !== status) throw new Error(`the message ${id} is ${now}, not ${status}`)
  })
}

/** What receivers see of a conversation. */
export async function textsSeenBy(world: World, uid: string, other: string): Promise<string[]> {
  const rows = dataOf(await world.get(`/users/${other}/messages?category=message`, { as: uid }))
  return rows.map(({ data }: { data: { text: string } }) => data.text)
}
