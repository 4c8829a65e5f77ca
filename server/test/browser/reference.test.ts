import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeWith } from '../gate/needs.ts'
import { soon } from '../support/until.ts'
import { createWorld } from '../support/world.ts'
import { chromiumProgram, openContext, pictureFile } from './chromium.ts'

describeWith(chromiumProgram, '/docs', () => {
  /** How light the background of an element is, from 0 to 255. */
  const lightness = (page: Page, selector: string) =>
    page.evaluate<number>(`{
      const colour = getComputedStyle(document.querySelector('${selector}')).backgroundColor
      const [red, green, blue] = colour.match(/\\d+/g).map(Number)
      ;(red + green + blue) / 3
    }`)

  it('shows the operations in light and dark, on a desk and a phone, and asks no other host', async () => {
    const world = await createWorld()
    const context = await openContext({ colorScheme: 'light', viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    const wrong: string[] = []
    page.on('pageerror', (error) => wrong.push(error.message))
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
    page.on('request', (request) => {
      if (!request.url().startsWith(world.url) && !/^(data|blob):/.test(request.url())) wrong.push(request.url())
    })
    await page.goto(`${world.url}/docs`)
    const heading = page.locator(':is(h1, h2, h3)', { hasText: /^Create a user$/ })
    await heading.first().waitFor()
    expect(await lightness(page, '#socket')).toBeGreaterThan(200)
    await page.screenshot({ path: pictureFile('docs-light-1280.png') })

    // To load it takes ten times as long as to draw it again.
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 390, height: 800 })
    await soon(async () => expect(await lightness(page, '#socket')).toBeLessThan(60))
    await heading.first().waitFor()
    await page.screenshot({ path: pictureFile('docs-dark-390.png') })
    expect(wrong).toEqual([])
    await context.close()
  })
})
