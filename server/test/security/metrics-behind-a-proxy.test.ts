import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type Service, startParley } from '../http/watched.ts'

/** A proxy keeps `/metrics` from the public side; other spellings of the same page pass it. */
describe('What a proxy keeps back by its path', () => {
  let service: Service
  beforeAll(async () => {
    service = await startParley({ environment: { NODE_ENV: 'development' } })
  })
  afterAll(() => service.parley.close())

  it('is not there under any other', async () => {
    for (const page of ['metrics', 'ready', 'docs', 'openapi.json', 'asyncapi.json', 'demo']) {
      expect((await ask(`${service.url}/${page}`)).status, page).toBe(200)
      for (const path of [
        `/v3/${page}`,
        `/v3.0/${page}`,
        `/V3/${page}`,
        `//${page}`,
        `/./${page}`,
        `/v3/../${page}`,
        `/v3/%2e%2e/${page}`,
        `/x/../${page}`,
        `/${page};a`,
        `/${page}%2f`,
        `/${page.toUpperCase()}`,
      ]) {
        expect((await ask(`${service.url}${path}`)).status, path).not.toBe(200)
      }
    }
  })

  it('is on a port of its own only, where one is named', async () => {
    const apart = await startParley({ environment: { METRICS_PORT: '9' } })
    expect((await ask(`${apart.url}/metrics`)).status).toBe(404)
    await apart.parley.close()
  })
})
