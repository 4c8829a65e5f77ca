import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dataOf } from '../support/chat.ts'
import { soon } from '../support/until.ts'
import { createWorld } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { describeConsole, openAs } from './console.ts'

describeConsole('settings of an app, in the console', () => {
  it('name the issuer whose JWTs log users in, and take it away again', async () => {
    const world = await createWorld()
    const settings = async () => dataOf(await world.get(`/apps/${world.app.name}/settings`))
    const path = `/apps/${world.app.name}/settings`
    const { page, problems } = await openAs(world, { role: 'developer' }, path)
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

    // A number that is emptied is as by default again, and the field shows it.
    for (const megabytes of [7, undefined]) {
      if (megabytes !== undefined)
        dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { mediaMegabytes: megabytes }))
      await page.reload()
      await page.getByLabel('Media megabytes').fill('')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(() => page.getByLabel('Media megabytes').inputValue(), { timeout: 30_000 }).toBe('0')
      expect((await settings()).mediaMegabytes).toBe(0)
    }

    // What is typed stays where a colleague saves something else, and is not put back by it.
    await page.getByLabel('JWT: audience').fill('shop')
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { maxBots: 3 }))
    await soon(async () => {
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
      expect(await page.getByLabel('Max bots').inputValue()).toBe('3')
    })
    expect(await page.getByLabel('JWT: audience').inputValue()).toBe('shop')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await settings()).jwtAudience, { timeout: 30_000 }).toBe('shop')
    expect((await settings()).maxBots).toBe(3)
    expect(problems).toEqual([])
  })

  it('have an audit log beside them that is filtered, shared by its address and exported', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'vip', name: 'VIP' }))
    const path = `/apps/${world.app.name}/audit-log`
    const { page, problems } = await openAs(world, { role: 'support' }, path)
    await page.getByText('4', { exact: true }).or(page.getByText('4 so far')).waitFor()
    const refused: string[] = []
    page.on('response', (answer) => {
      if (answer.status() === 400) refused.push(answer.url())
    })
    // An action that is not typed to its end yet is not asked for.
    const action = page.locator('input[aria-label="Action"]')
    await action.pressSequentially('user_b', { delay: 50 })
    await page.getByRole('option', { name: 'user_banned' }).waitFor()
    await action.fill('role_created')
    await page.getByRole('option', { name: 'role_created' }).click()
    await page.getByText('1', { exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get('action')).toBe('role_created')
    await page.getByText('role vip').click()
    await page.getByRole('dialog').getByText('"name": "VIP"').waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const lines = readFileSync(await (await downloading).path(), 'utf8')
      .trim()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line).action)).toEqual(['role_created'])
    await page.reload()
    await page.getByText('role vip').waitFor()
    expect(refused).toEqual([])
    expect(problems).toEqual([])
  })

  it('have an audit log whose address means the same time wherever it is opened', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'vip', name: 'VIP' }))
    const { page, problems } = await openAs(world, { role: 'support' }, `/apps/${world.app.name}/audit-log`)
    await page.getByText('role vip').waitFor()
    const devtools = await page.context().newCDPSession(page)
    const moveTo = (timezoneId: string) => devtools.send('Emulation.setTimezoneOverride', { timezoneId })
    const since = page.locator('input[aria-label="From"]')
    await moveTo('Europe/Berlin')
    await since.fill('2026-01-02T03:04')
    await soon(() => expect(page.url()).toContain('from='))
    await moveTo('Asia/Tokyo')
    const asking = page.waitForRequest(/audit-log\?.*from=/)
    await page.reload()
    expect(new URL((await asking).url()).searchParams.get('from')).toBe('1767319440')
    await page.getByText('role vip').waitFor()
    expect(await since.inputValue()).toBe('2026-01-02T11:04')
    await page.getByRole('link', { name: 'Audit log', exact: true }).click()
    await soon(async () => expect(await since.inputValue()).toBe(''))
    expect(problems).toEqual([])
  })

  it('are shown to support, and not theirs to change', async () => {
    const world = await createWorld()
    const { page } = await openAs(world, { role: 'support' }, `/apps/${world.app.name}/settings`)
    await page.getByText('JWT: issuer').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
  })
})
