import type { ErrorCode, Operation } from '@parley/contract'
import { errors } from '@parley/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/routes.ts'
import { refusal } from '../support/chat.ts'
import type { Answer, World } from '../support/world.ts'
import { createCopier } from './copies.ts'
import {
  asApp,
  chatAreas,
  codesMetElsewhere,
  own,
  type Refusal,
  refused,
  refusedElsewhere,
  type Scene,
  setScene,
  shared,
} from './refusals.ts'
import { furnishChat, type Sample, samples } from './samples.ts'
import { expectContractAnswer, pathOf, queryOf } from './watched.ts'

const operations = routes.map((route) => route.operation).filter(({ area }) => chatAreas.includes(area))
const cases = operations
  .filter(({ id }) => !refusedElsewhere.has(id))
  .flatMap((operation) =>
    operation.errors
      .filter((code) => !codesMetElsewhere.has(code))
      .map((code) => [operation.id, code, operation] as const),
  )

/** Where nothing is prepared, nothing is changed either: refusals leave the world as it is. */
let scene: Scene
beforeAll(async () => {
  scene = await newScene()
})

const copy = createCopier(async (world) => {
  const { world: _, ...ids } = await setScene(world, await furnishChat(world))
  return ids
})

async function newScene(): Promise<Scene> {
  const { world, ids } = await copy()
  return { ...ids, world }
}

function call(world: World, operation: Operation, { params, query, body, as }: Sample): Promise<Answer> {
  const path = pathOf(operation, params) + queryOf(query)
  return world.call(operation.method, path, body, as === undefined ? {} : { as })
}

function findRefusal(operation: Operation, code: ErrorCode): Refusal | undefined {
  return own[operation.id]?.[code] ?? shared.find(([about, fits]) => about === code && fits(operation))?.[2]
}

describe('every code that an operation declares can be met:', () => {
  it.each(cases)('%s %s', async (id, code, operation) => {
    const found = findRefusal(operation, code)
    if (found === undefined) throw new Error(`say in refusals.ts how ${id} is refused with ${code}`)
    const { change, prepare } = found
    const here = prepare === undefined ? scene : await newScene()
    await prepare?.(here)
    const sample = samples[id]?.(here) as Sample
    const answer = await call(here.world, operation, refused(sample, change(here)))
    expectContractAnswer(answer, operation)
    // Imports answer for each record.
    const [outcome] = answer.status === 200 && operation.area === 'Data Import' ? outcomesOf(answer) : []
    const told = outcome === undefined ? refusal(answer) : `${errors[outcome].status} ${outcome}`
    expect(told).toBe(`${errors[code].status} ${code}`)
  })

  it('and none is said here that is not declared', () => {
    for (const [id, codes] of Object.entries(own)) {
      const operation = operations.find((known) => known.id === id)
      for (const code of Object.keys(codes)) expect(operation?.errors, id).toContain(code)
    }
  })
})

function outcomesOf(answer: Answer): ErrorCode[] {
  const outcomes: Array<{ error?: { code: ErrorCode } }> = Object.values(answer.body.data)
  return outcomes.flatMap(({ error }) => error?.code ?? [])
}

describe('without an acting user, where one may act, the app itself is answered:', () => {
  const optional = operations.filter(({ onBehalfOf }) => onBehalfOf === 'optional')
  it.each(optional.map((operation) => [operation.id, operation] as const))('%s', async (id, operation) => {
    const here = operation.method === 'GET' ? scene : await newScene()
    const sample = samples[id]?.(here) as Sample
    const answer = await call(here.world, operation, refused(sample, { ...asApp[id]?.(here), as: undefined }))
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  })
})
