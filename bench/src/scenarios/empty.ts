import { type Bench, repeat, times } from '../bench.ts'
import type { Scenario } from '../measure.ts'
import { postRequest, textTo } from '../requests.ts'

/** A bare limit: the same request as a send, validated and answered with nothing done. */
export function emptyPosts(bench: Bench): Scenario[] {
  const request = postRequest('/messages', textTo('p0-0-b'), { apiKey: bench.service.apiKey, as: 'p0-0-a' })
  return [64, 256].map((connections) => ({
    id: `empty-${connections}`,
    name: `Empty validated POST, ${connections} connections (bare limit)`,
    run: () =>
      repeat(
        bench,
        bench.barePort,
        times(connections, () => [request]),
      ),
  }))
}
