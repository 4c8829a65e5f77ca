import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dataOf } from '../support/chat.ts'
import { connect, tokenOf } from '../support/socket.ts'
import { soon } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { describeConsole, openAs } from './console.ts'

describeConsole('a user in the console, in a real browser', () => {
  it('is logged out of one device, and everywhere, by moderators', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const token = await tokenOf(world, 'alice')
    dataOf(await world.post('/users/alice/auth_tokens', { platform: 'ios', userAgent: '<b>Chat</b>' }))
    const socket = await connect(world, 'alice', { token })
    const path = `/apps/${world.app.name}/users/alice?tab=sessions`
    const support = await openAs(world, { role: 'support' }, path)
    await support.page.getByRole('cell', { name: '<b>Chat</b>' }).waitFor()
    for (const name of ['End', 'Log out everywhere']) {
      expect(await support.page.getByRole('button', { name, exact: true }).count()).toBe(0)
    }
    const { page, problems } = await openAs(world, { role: 'moderator' }, path)
    await page.getByRole('cell', { name: '<b>Chat</b>' }).waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page
      .getByRole('row', { name: /<b>Chat/ })
      .getByRole('button', { name: 'End' })
      .click()
    await page.getByRole('cell', { name: '<b>Chat</b>' }).waitFor({ state: 'detached' })
    expect((await world.get('/me', { token })).status).toBe(200)
    await page.getByRole('button', { name: 'Log out everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Log out' }).click()
    await page.getByText('They are logged in nowhere.').waitFor()
    expect((await world.get('/me', { token })).status).toBe(401)
    expect(await socket.closed()).toBeGreaterThan(1000)
    expect([...problems, ...support.problems]).toEqual([])
  })

  it('is kept from being notified, and from somebody who bothers them', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const path = `/apps/${world.app.name}/users/alice`
    const { page, problems, open } = await openAs(world, { role: 'developer' }, `${path}?tab=notifications`)
    await page.getByText('They have muted nothing.').waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Mute a conversation' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('User ID or group ID').fill('bob')
    await dialog.getByRole('button', { name: 'Mute' }).click()
    await page.getByRole('cell', { name: 'it is taken back' }).waitFor()
    const muted = async () => dataOf(await world.get('/notifications/v1/preferences/mute?uid=alice')).mutedConversations
    expect(await muted()).toEqual([{ id: 'bob', type: 'oneOnOne' }])
    await page.getByRole('button', { name: 'Unmute' }).click()
    await page.getByText('They have muted nothing.').waitFor()
    expect(await muted()).toEqual([])
    await page.getByRole('button', { name: 'Do not disturb' }).click()
    await page.getByText('on: nothing is sent').waitFor()
    await page.getByRole('button', { name: 'Notify again' }).click()
    await page.getByRole('button', { name: 'Do not disturb' }).waitFor()
    await page.getByRole('button', { name: 'Change when' }).click()
    await dialog.getByRole('combobox', { name: 'Monday: when' }).click()
    await page.getByRole('option', { name: 'not at all' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Monday: not at all; Tuesday to Sunday: at any time').waitFor()
    const { mute } = dataOf(await world.get('/notifications/v1/preferences?uid=alice')).preferences
    expect(mute.schedulePreferenceSetting.monday.dnd).toBe(true)
    expect(await findingsOf(page)).toEqual([])

    await open(`${path}?tab=blocks`)
    await page.getByRole('button', { name: 'Block somebody' }).click()
    for (const uid of ['bob', 'nobody']) {
      await dialog.getByLabel('User IDs').fill(uid)
      await page.keyboard.press('Enter')
    }
    await dialog.getByRole('button', { name: 'Block' }).click()
    await dialog.getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    // Whom they could block is blocked, and is shown.
    await page.getByRole('link', { name: 'Bob' }).waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Unblock' }).click()
    await page.getByText('They block nobody, and nobody blocks them.').waitFor()

    await page.getByRole('button', { name: 'Erase' }).click()
    await dialog.getByLabel(/Type alice/).fill('bob')
    expect(await dialog.getByRole('button', { name: 'Erase' }).isDisabled()).toBe(true)
    await dialog.getByLabel(/Type alice/).fill('alice')
    await dialog.getByRole('button', { name: 'Erase' }).click()
    await soon(async () => expect((await world.get('/users/alice')).status).toBe(404))
    await page.getByText('nothing is left', { exact: true }).waitFor()
    expect(await findingsOf(page)).toEqual([])
    // The page of a user who is not there asked for one.
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([])
  })

  it('has what they have asked for released, and is put on hold', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    dataOf(await world.post('/me/export', {}, { as: 'alice' }))
    const path = `/apps/${world.app.name}/users/alice?tab=data`
    const { page, problems } = await openAs(world, { role: 'developer' }, path)
    await page.getByText('Nobody with this ID was erased.').waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Release what they have asked for' }).click()
    await soon(async () => expect(dataOf(await world.get('/users/alice/export')).export.status).toBe('ready'))
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the archive' }).click()
    const archive = readFileSync(await (await downloading).path(), 'utf8')
      .trim()
      .split('\n')
    expect(archive.map((line) => JSON.parse(line).kind)).toContain('profile')
    await page.getByRole('button', { name: 'Put on hold' }).click()
    await page.getByRole('dialog').getByLabel('Why').fill('a claim')
    await page.getByRole('dialog').getByRole('button', { name: 'Put on hold' }).click()
    await page.getByText('a claim').waitFor()
    expect(dataOf(await world.get('/retention/holds'))).toMatchObject([{ uid: 'alice', note: 'a claim' }])
    await page.getByRole('button', { name: 'Lift the hold' }).click()
    // What is older than retention allows is gone for good after it.
    await page.getByRole('dialog').getByText('for good').waitFor()
    expect(dataOf(await world.get('/retention/holds'))).toHaveLength(1)
    await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click()
    await soon(async () => expect(dataOf(await world.get('/retention/holds'))).toEqual([]))
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([])
  })
})
