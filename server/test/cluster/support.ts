import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { send, type World } from '../support/world.ts'
import { type RedisServer, startRedis } from './redis.ts'

/** Services on one database and one Redis, as processes on several machines would be. */
export interface Cluster {
  readonly redis: RedisServer
  readonly services: OwnServices
  start(environment?: Record<string, string>): Promise<Service>
  close(): Promise<void>
}

export async function createCluster(): Promise<Cluster> {
  const [redis, services] = await Promise.all([startRedis(), createOwnServices()])
  return {
    redis,
    services,
    start: (environment = {}) => services.start({ REDIS_URL: redis.url, ...environment }),
    async close() {
      await services.close()
      await redis.close()
    },
  }
}

/** The same app, seen through another process. */
export function through(service: Service, world: World): World {
  const call: World['call'] = (method, path, body, options = {}) =>
    send(service.url, method, path, body, {
      appid: world.app.name,
      ...(options.token === undefined ? { apikey: world.apiKey } : { authtoken: options.token }),
      ...(options.as !== undefined && { onbehalfof: options.as }),
      ...options.headers,
    })
  return {
    ...world,
    url: service.url,
    context: service.parley.context,
    call,
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    put: (path, body, options) => call('PUT', path, body, options),
    delete: (path, body, options) => call('DELETE', path, body, options),
  }
}

/** The value of one metric, as Prometheus would read it. */
export async function metricOf(url: string, line: string): Promise<number | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const found = text.split('\n').find((each) => each.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}
