import { startBareServer } from '../bare/start.ts'
import { type Bench, repeat, times } from '../bench.ts'
import type { AtEnd } from '../cleanup.ts'
import type { Scenario } from '../measure.ts'
import { fetchBody, postRequest, textTo } from '../requests.ts'
import { sendsInTurn } from './sends.ts'

/**
 * Two bare limits of a send: the same request validated by Fastify and answered with nothing done, and the same requests
 * read and parsed by `node:http` and answered with as many bytes as the service answers.
 */
export async function emptyPosts(bench: Bench, atEnd: AtEnd): Promise<Scenario[]> {
  const { service } = bench
  const [from, to] = ['p0-0-a', 'p0-0-b']
  const options = { apiKey: service.apiKey, as: from }
  const request = postRequest('/messages', textTo(to), options)
  const answer = await fetchBody(service.port, 'POST', '/v3/messages', options, textTo(to))
  const fastify = await startBareServer('fastify-posts')
  atEnd(fastify.stop)
  const http = await startBareServer('http-posts', answer)
  atEnd(http.stop)
  return [64, 256].flatMap((connections) => [
    {
      id: `empty-${connections}`,
      name: `Empty validated POST, ${connections} connections (bare limit)`,
      run: () =>
        repeat(
          bench,
          fastify.port,
          times(connections, () => [request]),
        ),
    },
    {
      id: `http-${connections}`,
      name: `Sends parsed by bare node:http, ${answer.length} bytes back, ${connections} connections (bare limit)`,
      run: () => repeat(bench, http.port, sendsInTurn(bench, connections)),
    },
  ])
}
