import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { times } from '../bench.ts'
import type { LoadGenerator } from '../load/start.ts'
import { postRequest, textTo } from '../requests.ts'
import type { Service } from '../service.ts'
import { type LiveFigure, rate } from './figures.ts'
import { createAsk, makeLogins } from './people.ts'

const connections = 64
const pairsEach = 4
const rounds = 3
const seconds = 4
const webhook = 'bench'

/** What a webhook costs those who send, and how many deliveries a second one endpoint gets. */
export async function webhooks(
  service: Service,
  load: LoadGenerator,
  progress: (text: string) => void,
): Promise<LiveFigure[]> {
  const ask = createAsk(service)
  await makeLogins(ask, 'hook', connections * pairsEach * 2)
  const endpoint = await startEndpoint()
  try {
    const send = async () => {
      const plan = { port: service.port, connections: sendsInTurn(service.apiKey), repeat: true, warmup: 1, seconds }
      return (await load.run(plan)).answers / seconds
    }
    const create = () =>
      ask('POST', '/webhooks', {
        id: webhook,
        name: webhook,
        webhookURL: endpoint.url,
        enabled: true,
        triggers: ['message_sent'],
      })
    const without: number[] = []
    const withOne: number[] = []
    const delivered: number[] = []
    // In turn, so that a slow minute of the machine hits both.
    for (let round = 0; round < rounds; round++) {
      progress(`round ${round + 1} of ${rounds}: sends without and with a webhook`)
      without.push(await send())
      await create()
      endpoint.reset()
      withOne.push(await send())
      delivered.push(await endpoint.whenQuiet())
      await ask('DELETE', `/webhooks/${webhook}`)
    }
    const cost = 1 - middle(withOne) / middle(without)
    return [
      {
        what: `sends with one webhook, ${connections} connections`,
        value: rate(middle(withOne)),
        beside: `${rate(middle(without))} without`,
        goal: 'at most a quarter less',
        met: cost <= 0.25,
      },
      { what: 'deliveries to a local endpoint, sends going on for the first seconds', value: rate(middle(delivered)) },
    ]
  } finally {
    await endpoint.stop()
  }
}

function sendsInTurn(apiKey: string): string[][] {
  const send = (from: number, to: number) =>
    postRequest('/v3/messages', textTo(`hook${to}`), { apiKey, as: `hook${from}` })
  return times(connections, (c) => {
    const pairs = times(pairsEach, (p) => 2 * (c * pairsEach + p))
    return [...pairs.map((first) => send(first, first + 1)), ...pairs.map((first) => send(first + 1, first))]
  })
}

/** An endpoint that answers 200 at once and counts. */
async function startEndpoint() {
  let count = 0
  let firstAt = 0
  let lastAt = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      lastAt = performance.now()
      if (count++ === 0) firstAt = lastAt
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const quietMs = 3_000
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    reset() {
      count = 0
      firstAt = performance.now()
      lastAt = firstAt
    },
    /** Waits until nothing more comes. @returns how many came a second until then */
    async whenQuiet(): Promise<number> {
      while (performance.now() - lastAt < quietMs) await delay(100)
      return (count / (lastAt - firstAt)) * 1000
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
