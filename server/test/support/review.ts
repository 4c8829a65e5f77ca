import { sql } from 'kysely'
import { afterEach } from 'vitest'
import { addRules } from './held.ts'
import { type Answer, createUsers, createWorld, type World } from './world.ts'

const added: Array<() => void> = []

/** Takes away after each test what `moderatedWorld` has added. */
export function takeRulesAway(): void {
  afterEach(() => {
    for (const remove of added.splice(0)) remove()
  })
}

/** An app with these users, in which messages are judged by the words in them, see `addRules`. */
export async function moderatedWorld(...uids: string[]): Promise<World> {
  const world = await createWorld()
  await createUsers(world, ...uids)
  added.push(addRules(world))
  return world
}

export function flag(world: World, id: string, as: string, body: object = {}): Promise<Answer> {
  return world.post(`/messages/${id}/flagged`, body, { as })
}

/** Decides about one message of a list. */
export function review(world: World, list: 'flagged' | 'blocked', id: string, body: object): Promise<Answer> {
  return world.call('PATCH', `/moderation/${list}-messages/${id}`, body)
}

/** Lets a message that was blocked wait for an engine, which is to be asked in some centuries. */
export async function makePending({ app, context }: World, id: string): Promise<void> {
  await context.database.run(sql`
    with waiting as (
      update messages
      set traits = traits & ~16384 | 8192
      where app_id = ${app.appId}
      and id = ${id}
    )
    update message_moderation
    set status = 'pending', questions = '[]', due_at = 9999999999, rule_id = null, rule_name = null
    where app_id = ${app.appId}
    and message = ${id}`)
}
