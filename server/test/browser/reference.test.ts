import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../gate/needs.ts'
import { createWorld, type World } from '../support/world.ts'
import { chromiumProgram, launchBrowser, pictureFile } from './chromium.ts'

describeWith(chromiumProgram, '/docs', () => {
  let world: World
  let browser: Browser

  beforeAll(async () => {
    ;[world, browser] = await Promise.all([createWorld(), launchBrowser()])
  })
  afterAll(() => browser?.close())

  /** Opens the page, and collects what should not be: errors, and requests to other hosts. */
  async function open(colorScheme: 'light' | 'dark', width = 1280): Promise<{ page: Page; wrong: string[] }> {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } })
    const wrong: string[] = []
    page.on('pageerror', (error) => wrong.push(error.message))
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
    page.on('request', (request) => {
      if (!request.url().startsWith(world.url) && !/^(data|blob):/.test(request.url())) wrong.push(request.url())
    })
    await page.goto(`${world.url}/docs`)
    await page.getByRole('heading', { name: 'Create a user', exact: true }).waitFor()
    return { page, wrong }
  }

  /** How light the background of an element is, from 0 to 255. */
  const lightness = (page: Page, selector: string) =>
    page.evaluate<number>(`{
      const colour = getComputedStyle(document.querySelector('${selector}')).backgroundColor
      const [red, green, blue] = colour.match(/\\d+/g).map(Number)
      ;(red + green + blue) / 3
    }`)

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['dark', 390],
  ] as const)('shows the operations in the %s theme, %i pixels wide, and asks no other host', async (theme, width) => {
    const { page, wrong } = await open(theme, width)
    const bar = await lightness(page, '#socket')
    if (theme === 'light') expect(bar).toBeGreaterThan(200)
    else expect(bar).toBeLessThan(60)
    await page.screenshot({ path: pictureFile(`docs-${theme}-${width}.png`) })
    expect(wrong).toEqual([])
    await page.close()
  })
})
