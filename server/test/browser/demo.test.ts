import { statSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../gate/needs.ts'
import { createWorld, type World } from '../support/world.ts'
import { chromiumProgram, launchBrowser, pictureFile } from './chromium.ts'

describeWith(chromiumProgram, 'the demo page, in two tabs of a real browser', () => {
  let browser: Browser
  let world: World

  beforeAll(async () => {
    browser = await launchBrowser()
    world = await createWorld()
  })
  afterAll(async () => {
    await browser?.close()
  })

  /** A tab of its own session, logged in. */
  const openTab = async (me: string, peer: string): Promise<Page> => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${world.url}/demo#key=${world.authKey}&app-id=${world.app.name}&me=${me}&peer=${peer}`)
    await page.click('#log-in')
    await page.getByText('I am online.').waitFor()
    expect(await page.locator('#login').isVisible()).toBe(false)
    return page
  }

  it('chats live: what one writes the other sees, typing, presence and receipts too', async () => {
    const alice = await openTab('alice', 'bob')
    const bob = await openTab('bob', 'alice')
    await alice.getByText('bob is online').waitFor()

    await alice.fill('#text', 'Shall we meet at six?')
    await bob.getByText('alice is typing').waitFor()
    await alice.click('#send-button')
    await bob.locator('#messages li.theirs', { hasText: 'Shall we meet at six?' }).waitFor()
    await alice.locator('#messages li.mine small', { hasText: 'read' }).waitFor()

    await bob.fill('#text', 'Half past. <b>Bring</b> the others 火锅!')
    await bob.click('#send-button')
    await alice.locator('#messages li.theirs', { hasText: 'Half past. <b>Bring</b> the others 火锅!' }).waitFor()
    expect(await alice.locator('#messages li').count()).toBe(2)
    expect(await alice.locator('#problem').textContent()).toBe('')

    const stored = await world.get('/users/bob/messages', { as: 'alice' })
    expect(stored.body.data.map((message: { data: { text: string } }) => message.data.text)).toEqual([
      'Shall we meet at six?',
      'Half past. <b>Bring</b> the others 火锅!',
    ])

    const picture = pictureFile('alice.png')
    await alice.screenshot({ path: picture })
    expect(statSync(picture).size).toBeGreaterThan(1000)

    await bob.close()
    await alice.getByText('bob is offline').waitFor()
  })

  it('says what is wrong when the key is not right', async () => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${world.url}/demo#key=${'0'.repeat(40)}&app-id=${world.app.name}`)
    await page.click('#log-in')
    await page.locator('#problem', { hasText: /./ }).waitFor()
    expect(await page.locator('#chat').isVisible()).toBe(false)
  })
})
