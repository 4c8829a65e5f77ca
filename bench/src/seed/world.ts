import type pg from 'pg'
import { moderation } from './moderation.ts'
import { people } from './people.ts'
import { places } from './places.ts'
import { checkSizes, type WorldSizes } from './sizes.ts'
import { foundations } from './step.ts'
import { talk } from './talk.ts'
import { traces } from './traces.ts'

export interface SeedOptions {
  readonly progress?: (step: string) => void
  readonly isAnalyzed?: boolean
  readonly isModerated?: boolean
}

/**
 * Fills an app with a world, as the rules would have written it: `parley doctor` finds nothing. In one transaction, by
 * few statements; the same sizes give the same world.
 *
 * The user `busy` takes part in many groups and one-to-one conversations, a long one with `u1` among them. The group
 * `crowd` has many members and a long history, whose first message has a long thread and whose second one has many
 * reactions.
 * @param client a connection that nobody else uses meanwhile
 * @param appId an app without users but `app_system`
 * @param options.progress told what is written next
 * @param options.isAnalyzed whether PostgreSQL gathers statistics of it. Without, its planner takes the app for an empty
 * one, as it does that of a team which has just imported its history
 * @param options.isModerated whether moderation has looked at it, and people at what it flagged
 * @throws when no world can have these sizes
 */
export async function seedWorld(
  client: pg.ClientBase,
  appId: number,
  sizes: WorldSizes,
  { progress = () => {}, isAnalyzed = true, isModerated = false }: SeedOptions = {},
): Promise<void> {
  checkSizes(sizes)
  await client.query('begin')
  try {
    await client.query(`set local work_mem = '256MB'`)
    await client.query('set local jit = off')
    for (const statement of foundations(appId)) await client.query(statement)
    await reserveIds(client, sizes.messages)
    const steps = [
      ...people(sizes),
      ...places(sizes),
      ...talk(),
      ...traces(sizes),
      ...(isModerated ? moderation() : []),
    ]
    for (const { name, sql } of steps.filter(({ isAnalysis }) => isAnalyzed || isAnalysis !== true)) {
      progress(name)
      await client.query(sql)
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
  if (!isAnalyzed) return
  progress('figures for the planner')
  await client.query('vacuum analyze')
}

/**
 * Takes as many message ids at once as there are messages: under the lock of a writer, or the search index would pass them
 * over as ids of messages that will never be.
 */
async function reserveIds(client: pg.ClientBase, count: number): Promise<void> {
  await client.query('lock table messages in row exclusive mode')
  const { rows } = await client.query<{ first: string }>(`select nextval('message_ids') as first`)
  const first = Number(rows[0]?.first)
  await client.query(`select setval('message_ids', $1)`, [first + count])
  await client.query(
    `create or replace function pg_temp.seed_first_id() returns bigint stable language sql as $$ select ${first}::bigint $$`,
  )
}
