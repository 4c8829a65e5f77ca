import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../gate/needs.ts'
import { dataOf } from '../support/chat.ts'
import { createWorld } from '../support/world.ts'
import { chromiumProgram, launchBrowser } from './chromium.ts'
import { findingsOf, openAs } from './console.ts'

describeWith(chromiumProgram, 'settings of an app, in the console', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
  })

  it('name the issuer whose JWTs log users in, and take it away again', async () => {
    const world = await createWorld()
    const settings = async () => dataOf(await world.get(`/apps/${world.app.name}/settings`))
    const path = `/apps/${world.app.name}/settings`
    const { page, problems } = await openAs(browser, world, { role: 'developer' }, path)
    const wanted = {
      jwtIssuer: 'https://login.example.com',
      jwtAudience: 'chat',
      jwtKeysUrl: 'https://login.example.com/keys',
    }
    await page.getByLabel('JWT: issuer').fill(wanted.jwtIssuer)
    await page.getByLabel('JWT: audience').fill(wanted.jwtAudience)
    await page.getByLabel('JWT: address of the keys').fill('no address')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('jwtKeysUrl').waitFor()
    expect(await settings()).toMatchObject({ jwtIssuer: '', jwtAudience: '', jwtKeysUrl: '' })
    await page.getByLabel('JWT: address of the keys').fill(wanted.jwtKeysUrl)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings were saved').waitFor()
    expect(await settings()).toMatchObject(wanted)
    expect(await findingsOf(page)).toEqual([])

    await page.getByLabel('JWT: issuer').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await settings()).jwtIssuer, { timeout: 30_000 }).toBe('')
    expect(problems).toEqual([])
  })

  it('are shown to support, and not theirs to change', async () => {
    const world = await createWorld()
    const { page } = await openAs(browser, world, { role: 'support' }, `/apps/${world.app.name}/settings`)
    await page.getByText('JWT: issuer').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
  })
})
