import { describe, expect, it } from 'vitest'
import { ask, startParley } from '../http/watched.ts'

/** A page of the service that asks for a key stands where a product's users look. */
describe('The demo and the reference', () => {
  const pages = ['/', '/demo', '/demo/', '/demo/main.js', '/docs', '/docs/']
  const statuses = async (environment: Record<string, string>) => {
    const { url, parley } = await startParley({ environment })
    const found = await Promise.all(pages.map(async (page) => (await ask(`${url}${page}`)).status))
    await parley.close()
    return new Set(found)
  }

  it('are not served in production unless they are asked for', async () => {
    expect(await statuses({ NODE_ENV: 'production' })).toEqual(new Set([404]))
    expect(await statuses({ NODE_ENV: 'production', DEMO: 'true', DOCS: 'true' })).toEqual(new Set([200]))
    expect(await statuses({ DEMO: 'false', DOCS: 'false' })).toEqual(new Set([404]))
  })

  it('are not served to other machines by default: the demo', async () => {
    const { url, parley } = await startParley({ environment: { HOST: '0.0.0.0' } })
    expect((await ask(`${url.replace('0.0.0.0', '127.0.0.1')}/demo`)).status).toBe(404)
    await parley.close()
  })
})
