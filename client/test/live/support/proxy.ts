import { connect, createServer, type Socket } from 'node:net'

/** A network between clients and the service that a test can disturb. */
export interface Network {
  /** Where clients connect. */
  readonly url: string
  /** Where connections lead from now on. */
  target(url: string): void
  /** Cuts every connection. */
  drop(): void
  /** New connections are cut at once. */
  cut(): void
  /** Whatever is connected is dead, and neither end hears of it; new connections get through. */
  halfOpen(): void
  /** Answers of the service are lost, and their connections with them: this many of those that are to come. */
  loseAnswers(count: number): void
  /** Everything takes this much longer. */
  delay(ms: number): void
  heal(): void
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly service: Socket
  isDead: boolean
}

/** Acts later, but never before what was to be done earlier: nothing overtakes in a connection. */
function inOrder(): (ms: number, act: () => void) => void {
  const waiting: Array<{ readonly at: number; readonly act: () => void }> = []
  const work = () => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const early = next.at - performance.now()
      if (early > 0) {
        setTimeout(work, early)
        return
      }
      waiting.shift()
      next.act()
    }
  }
  return (ms, act) => {
    waiting.push({ at: performance.now() + ms, act })
    if (waiting.length === 1) work()
  }
}

export async function openNetwork(firstTarget: string): Promise<Network> {
  let target = new URL(firstTarget)
  let isCut = false
  let losing = 0
  let delayMs = 0
  const pairs = new Set<Pair>()

  const server = createServer((client) => {
    client.on('error', () => {})
    if (isCut) {
      client.destroy()
      return
    }
    const service = connect(Number(target.port), target.hostname)
    service.on('error', () => {})
    const pair: Pair = { client, service, isDead: false }
    pairs.add(pair)
    const end = () => {
      if (pair.isDead) return
      pairs.delete(pair)
      client.destroy()
      service.destroy()
    }
    const [up, down] = [inOrder(), inOrder()]
    client.on('data', (data) => pair.isDead || up(delayMs, () => service.write(data)))
    service.on('data', (data) => {
      if (pair.isDead) return
      if (losing > 0 && data.includes('HTTP/1.1 200')) {
        losing--
        end()
        return
      }
      down(delayMs, () => client.write(data))
    })
    client.on('close', end)
    service.on('close', end)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const drop = () => {
    for (const pair of pairs) {
      pair.isDead = false
      pair.client.destroy()
      pair.service.destroy()
    }
    pairs.clear()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    target(url) {
      target = new URL(url)
    },
    drop,
    cut() {
      isCut = true
      drop()
    },
    halfOpen() {
      for (const pair of pairs) pair.isDead = true
    },
    loseAnswers(count) {
      losing = count
    },
    delay(ms) {
      delayMs = ms
    },
    heal() {
      isCut = false
      losing = 0
      delayMs = 0
    },
    async close() {
      drop()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
