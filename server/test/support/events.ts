import { eventData, legacyEventData } from '@parley/contract'
import { Ajv, type ValidateFunction } from 'ajv'
import { dataOf } from './chat.ts'
import { stillMs } from './until.ts'
import { createUsers, type World } from './world.ts'

/** An event as pulled; `data` is untyped on purpose: tests state what they expect. */
export interface Pulled {
  readonly id: string
  readonly trigger: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look at events as a client would, without types
  readonly data: any
  readonly appId: string
  readonly region: string
  readonly createdAt: number
}

/** Somebody who pulls the events of a world from now on. */
export interface Puller {
  /** The events since the last call, once everything that has happened by now is settled. */
  since(): Promise<Pulled[]>
  /** As `since`, without ids and times: what was told. */
  told(): Promise<Array<Pick<Pulled, 'trigger' | 'data'>>>
}

/** Begins to pull. Makes two users of its own, `zed` and `zoe`, whose blocks mark the end of what is waited for. */
export async function pullEvents(world: World): Promise<Puller> {
  await createUsers(world, 'zed', 'zoe')
  let cursor = await firstCursor(world)
  let isBlocked = false

  const since = async () => {
    isBlocked = !isBlocked
    const body = { blockedUids: ['zoe'] }
    if (isBlocked) dataOf(await world.post('/users/zed/blockedusers', body))
    else dataOf(await world.delete('/users/zed/blockedusers', body))

    const events: Pulled[] = []
    let movedAt = performance.now()
    while (performance.now() - movedAt < stillMs) {
      const answer = await world.get(`/events?after=${cursor}&limit=1000`)
      for (const event of dataOf(answer) as Pulled[]) {
        if (event.data.by?.uid === 'zed') {
          cursor = event.id
          return events
        }
        checkDeclared(event)
        events.push(event)
      }
      if (answer.body.meta.cursor !== cursor) movedAt = performance.now()
      cursor = answer.body.meta.cursor
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`the events did not settle; there were ${JSON.stringify(events)}`)
  }
  return {
    since,
    told: async () => (await since()).map(({ trigger, data }) => ({ trigger, data })),
  }
}

const ajv = new Ajv({ strict: false })
const declared = compileAll(eventData)
const declaredLegacy = compileAll(legacyEventData)

function compileAll(schemas: Readonly<Record<string, object>>): ReadonlyMap<string, ValidateFunction> {
  return new Map(Object.entries(schemas).map(([trigger, schema]) => [trigger, ajv.compile(schema)]))
}

/**
 * Fails the test when the data of an event is not what the contract declares for its trigger.
 * @param version of its envelope
 */
export function checkDeclared({ trigger, data }: Pick<Pulled, 'trigger' | 'data'>, version: 1 | 2 = 2): void {
  const validate = (version === 1 ? declaredLegacy : declared).get(trigger)
  if (validate === undefined) throw new Error(`${trigger} is not declared`)
  if (!validate(data)) throw new Error(`${trigger} is not as declared: ${ajv.errorsText(validate.errors)}`)
}

export async function firstCursor(world: World): Promise<string> {
  const answer = await world.get('/events')
  dataOf(answer)
  return answer.body.meta.cursor
}
