import { writeFile } from 'node:fs/promises'
import { clientFrames, type Operation, serverFrames } from '@parley/contract'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { type CallExample, noExamples, readExamples } from '../../src/http/reference/examples.ts'
import { answerOf, bodyOf } from '../../src/http/reference/openapi.ts'
import { routes } from '../../src/routes.ts'
import { recordFrames } from '../reference/frames.ts'
import { firstIds, pleasantIds, pleasantly } from '../reference/pleasant.ts'
import { createWorld } from '../support/world.ts'
import { type Furnished, furnishInOrder } from './in-order.ts'
import { chatAreas } from './refusals.ts'
import { furnish, furnishChat, type Ids, type Sample, samples } from './samples.ts'
import { closed, flawsIn, pathOf, queryOf } from './watched.ts'

const file = new URL('../../../docs/examples.json', import.meta.url)
const operations = routes.map((route) => route.operation)
/** `all`, `frames`, or ids of operations, separated by commas. */
const toRecord = process.env.RECORD_EXAMPLES?.split(',')
const commandFor = (ids: string) => `RECORD_EXAMPLES=${ids} npx vitest run server/test/http/examples.test.ts`

function sampleOf({ id }: Operation, ids: Ids): Sample {
  const sample = samples[id]
  if (sample === undefined) throw new Error(`add a sample call of ${id} to server/test/http/samples.ts`)
  return sample(ids)
}

/** What differs between runs is written as it will stand in the examples. */
function requestOf(operation: Operation, { world, ids }: Furnished, began: number): Sample {
  return pleasantly(sampleOf(operation, ids), world, ids, began)
}

const seconds = () => Math.floor(Date.now() / 1000)

async function record(operation: Operation): Promise<CallExample> {
  const began = seconds()
  const furnished = await furnishInOrder(chatAreas.includes(operation.area) ? furnishChat : furnish)
  const { world, ids } = furnished
  const request = requestOf(operation, furnished, began)
  const { params, query, body, as, token } = sampleOf(operation, ids)
  const answer = await world.call(operation.method, pathOf(operation, params) + queryOf(query), body, {
    ...(as !== undefined && { as }),
    ...(token !== undefined && { token }),
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return { request, answer: pleasantly(answer.body, world, ids, began) }
}

const recording = () => {
  it('are recorded', async () => {
    const world = await createWorld()
    for (const [name, first] of Object.entries(firstIds)) {
      await world.context.database.run(sql`select setval(${name}::regclass, ${first})`)
    }
    const isAll = toRecord?.includes('all') === true
    const before = isAll ? noExamples : readExamples()
    const recorded: Record<string, CallExample> = {}
    for (const operation of operations) {
      const { id } = operation
      const kept = before.operations[id]
      if (isAll || toRecord?.includes(id) === true) recorded[id] = await record(operation)
      else if (kept !== undefined) recorded[id] = kept
    }
    const frames = isAll || toRecord?.includes('frames') === true ? await recordFrames() : before.frames
    await writeFile(file, `${JSON.stringify({ operations: recorded, frames }, null, 1)}\n`)
  })
}

const checking = () => {
  const examples = toRecord === undefined ? readExamples() : noExamples

  const frames = [...clientFrames, ...serverFrames]
  it.each(frames.map(({ name, schema }) => [name, schema] as const))('has one of the frame %s', (name, schema) => {
    const hint = `record it in server/test/reference/frames.ts, and run ${commandFor('frames')}`
    if (examples.frames[name] === undefined) throw new Error(`there is no example of the frame ${name}: ${hint}`)
    expect(flawsIn(examples.frames[name], closed(schema)), `the frame ${name}: ${hint}`).toBe('')
  })

  it('has examples of operations that are served', () => {
    const ids: readonly string[] = operations.map(({ id }) => id)
    const gone = Object.keys(examples.operations).filter((id) => !ids.includes(id))
    expect(gone, `these are no longer served: run ${commandFor('all')}`).toEqual([])
  })

  it.each(operations.map((operation) => [operation.id, operation] as const))('has one of %s', async (id, operation) => {
    const command = commandFor(id)
    const example = examples.operations[id]
    if (example === undefined) {
      throw new Error(`there is no example of ${id}: run ${command}, look at it, and commit docs/examples.json`)
    }
    const request = requestOf(operation, { world: await createWorld(), ids: pleasantIds }, 0)
    expect(example.request, `the sample call of ${id} has changed: run ${command}`).toEqual(request)
    const { body } = example.request
    if (body !== undefined) expect(flawsIn(body, bodyOf(operation)), `the request of ${id}`).toBe('')
    expect(flawsIn(example.answer, closed(answerOf(operation))), `the answer of ${id}: run ${command}`).toBe('')
  })
}

if (toRecord === undefined) describe('docs/examples.json', checking)
else describe('examples', recording)
