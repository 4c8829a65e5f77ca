import type { Page } from 'playwright-core'
import type { World } from '../support/world.ts'

/** Opens the demo in a page, and logs in. Where it is still being built, the page comes by itself. */
export async function openDemo(page: Page, world: World, me: string, peer: string): Promise<void> {
  const given = new URLSearchParams({ key: world.authKey, 'app-id': world.app.name, me, peer })
  await page.goto(`${world.url}/demo#${given}`)
  await page.click('#log-in')
  await page.locator('#state', { hasText: 'live' }).waitFor()
}
