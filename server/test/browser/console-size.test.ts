import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { createWorld } from '../support/world.ts'

const mostBytes = 280_000

/** What a file of the console loads with it, and not later. */
function staticImportsOf(script: string): string[] {
  return [...script.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)].map(([, name]) => name ?? '')
}

it('The first chunk of the console has less than 280 kB with its styles', async () => {
  const { url } = await createWorld()
  const read = async (path: string): Promise<string> => {
    const response = await fetch(`${url}/console${path}`)
    expect(response.status, path).toBe(200)
    return response.text()
  }
  let page = ''
  await until(async () => {
    page = await read('/')
    return page.includes('/console/assets/')
  })
  // With what it loads as soon as somebody is signed in.
  const entry = [...page.matchAll(/\/console\/assets\/([\w.-]+\.(?:js|css))/g)].map(([, name]) => name ?? '')
  const wanted = [...entry]
  const sizes = new Map<string, number>()
  while (wanted.length > 0) {
    const name = wanted.pop() as string
    if (sizes.has(name)) continue
    const content = await read(`/assets/${name}`)
    sizes.set(name, gzipSync(content, { level: 9 }).length)
    if (!name.endsWith('.js')) continue
    wanted.push(...staticImportsOf(content))
    wanted.push(...[...content.matchAll(/assets\/(Console-[\w-]+\.(?:js|css))/g)].map(([, found]) => found ?? ''))
  }
  expect([...sizes.keys()].filter((name) => name.startsWith('Console-')).length).toBeGreaterThan(0)
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  expect(bytes, [...sizes].map(([name, size]) => `${name} ${size}`).join('\n')).toBeLessThan(mostBytes)
})
