import type { Operation } from '@parley/contract'
import { expect } from 'vitest'
import type { Answer } from '../support/world.ts'
import type { Furnished } from './in-order.ts'
import { samples } from './samples.ts'
import { pathOf, queryOf, type watchAnswers } from './watched.ts'

/**
 * Makes the sample call of an operation in a world of a service whose answers are watched, and expects that it succeeds, that the
 * handler gives what is declared, and that the serialiser drops nothing of it.
 */
export async function answerToSample(
  operation: Operation,
  { world, ids }: Furnished,
  watch: ReturnType<typeof watchAnswers>,
): Promise<Answer> {
  const sample = samples[operation.id]
  if (sample === undefined) throw new Error(`${operation.id} has no sample in samples.ts`)
  const { params, query, body, as, token } = sample(ids)
  watch.answers.length = 0
  const answer = await world.call(operation.method, pathOf(operation, params) + queryOf(query), body, {
    ...(as !== undefined && { as }),
    ...(token !== undefined && { token }),
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(watch.flaws.splice(0)).toEqual([])
  expect([answer.body]).toEqual(watch.answers)
  expect(JSON.stringify(answer.body)).not.toContain(':null')
  return answer
}
