import type { WorldSizes } from '../seed/sizes.ts'

/** Places in a seeded world that the lists are asked for. */
export interface Landmarks {
  readonly sizes: WorldSizes
  /** The middle of the history of `crowd`, of that of `busy` with `u1`, and of everything. */
  readonly crowdMiddle: Place
  readonly talkMiddle: Place
  /** Half of all was sent before it; and a place that only some hundred messages come after. */
  readonly middle: Place
  readonly nearEnd: Place
  /** The message of `crowd` with a long thread, and one in the middle of its replies. */
  readonly thread: number
  readonly threadMiddle: Place
  /** The message of `crowd` with many reactions, and one in the middle of them. */
  readonly loved: number
  readonly reactionMiddle: number
  /** Half of the users were changed before it. */
  readonly usersChangedAt: number
  readonly groupsChangedAt: number
}

export interface Place {
  readonly id: number
  readonly sentAt: number
}

/** Runs a query with parameters and gives its rows. */
export type Ask = (text: string, values: unknown[]) => Promise<ReadonlyArray<Record<string, unknown>>>

/** Looks where the places are in the world of an app. */
export async function readLandmarks(ask: Ask, appId: number, sizes: WorldSizes): Promise<Landmarks> {
  const number = async (text: string, values: unknown[] = []): Promise<number> => {
    const [row] = await ask(text, [appId, ...values])
    const value = Number(Object.values(row ?? {})[0])
    if (!Number.isFinite(value)) throw new Error(`the world has no such place: ${text}`)
    return value
  }
  const place = async (condition: string, offset: number): Promise<Place> => {
    const [row] = await ask(
      `select id, sent_at from messages m where app_id = $1 and traits & 24576 = 0 and ${condition} order by sent_at, id offset $2 limit 1`,
      [appId, offset],
    )
    if (row === undefined) throw new Error(`the world has no such place: ${condition}`)
    return { id: Number(row.id), sentAt: Number(row.sent_at) }
  }
  const conversation = (kind: number, first: string, second: string) =>
    number('select key from conversations where app_id = $1 and kind = $2 and first = $3 and second = $4', [
      kind,
      first,
      second,
    ])
  const crowd = `conversation = ${await conversation(2, 'crowd', '')}`
  const talk = `conversation = ${await conversation(1, 'busy', 'u1')}`
  const long = Math.floor(sizes.messages / 20)
  const thread = (await place(crowd, 0)).id
  const loved = (await place(crowd, 1)).id
  const half = (table: string) =>
    `select percentile_disc(0.5) within group (order by coalesce(updated_at, created_at)) from ${table} where app_id = $1`
  return {
    sizes,
    crowdMiddle: await place(crowd, Math.floor(long / 2)),
    talkMiddle: await place(talk, Math.floor(long / 2)),
    middle: await place('true', Math.floor(sizes.messages / 2)),
    nearEnd: await place('true', sizes.messages - 300),
    thread,
    threadMiddle: await place(`parent_id = ${thread}`, Math.floor(long / 20)),
    loved,
    reactionMiddle: await number(
      'select percentile_disc(0.5) within group (order by id) from reactions where app_id = $1 and message_id = $2',
      [loved],
    ),
    usersChangedAt: await number(half('users')),
    groupsChangedAt: await number(half('groups')),
  }
}
