import { expect, it } from 'vitest'
import { createOwner } from '../admin/operator.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { soon } from '../support/until.ts'
import { createWorld, type World } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { type ConsoleTab, describeConsole, openAs, openSignedIn } from './console.ts'

describeConsole('apps in the console', () => {
  const rowOf = ({ page }: ConsoleTab, { app }: World) => page.getByRole('row', { name: app.name })
  const statusOf = async (world: World) => (await world.get('/users')).status

  it('are paused and resumed, and say so above each of their pages', async () => {
    const world = await createWorld()
    dataOf(await world.post('/users', { uid: 'ulla', name: 'Ulla' }))
    const tab = await openAs(world, { role: 'developer' }, '/apps')
    const { page, problems, open } = tab
    const row = rowOf(tab, world)
    await row.getByText('active').waitFor()
    // Only owners delete.
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    await row.getByRole('button', { name: 'Pause' }).click()
    const dialog = page.getByRole('dialog')
    expect(await findingsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await statusOf(world)).toBe(200)
    await row.getByRole('button', { name: 'Pause' }).click()
    await dialog.getByRole('button', { name: 'Pause' }).click()
    await row.getByText('paused').waitFor()
    await soon(async () => expect(await statusOf(world)).toBe(503))

    await open(`/apps/${world.app.name}/users/ulla`)
    await page.getByRole('heading', { name: 'Ulla' }).waitFor()
    const banner = page.getByRole('status').filter({ hasText: 'This app is paused' })
    await banner.waitFor()
    expect(await findingsOf(page)).toEqual([])
    // What waits is refused with the reason.
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Ulrike')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(`The app ${world.app.name} is paused. Resume it first.`).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await banner.getByRole('button', { name: 'Resume' }).click()
    await banner.waitFor({ state: 'detached' })
    expect(await statusOf(world)).toBe(200)
    expect(problems).toEqual([])
  })

  it('are deleted by typing their name, and taken back', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const tab = await openSignedIn(world, owner, `/apps?q=${world.app.name}`)
    const { page, problems, open } = tab
    const row = rowOf(tab, world)
    await row.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Delete' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel(`Type ${world.app.name} to go on`).fill('another')
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel(`Type ${world.app.name} to go on`).fill(world.app.name)
    expect(await findingsOf(page)).toEqual([])
    await confirm.click()
    await row.getByText('will be removed').waitFor()
    expect(await row.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    expect(await row.getByRole('button', { name: 'Resume' }).count()).toBe(0)
    expect(await findingsOf(page)).toEqual([])

    await open(`/apps/${world.app.name}/settings`)
    const banner = page.getByRole('status').filter({ hasText: 'It was deleted' })
    await banner.getByRole('button', { name: 'Take back' }).click()
    await page.getByRole('status').filter({ hasText: 'every request gets 503' }).waitFor()
    await soon(async () => expect(refusal(await world.get('/users'))).toBe('503 ERR_MISSION_FAILED'))
    await banner
      .getByRole('button', { name: 'Resume' })
      .or(page.getByRole('button', { name: 'Resume' }))
      .click()
    await soon(async () => expect(await statusOf(world)).toBe(200))
    // The app that APP_ID names has no such button.
    await open('/apps?q=parley')
    const own = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'parley', exact: true }) })
    await own.getByRole('button', { name: 'Pause' }).waitFor()
    expect(await own.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('show how they stand, without buttons, to whoever may not change that', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    dataOf(await owner.post(`/apps/${world.app.name}/pause`))
    const support = await openAs(world, { role: 'support' }, '/apps')
    await rowOf(support, world).getByText('paused').waitFor()
    expect(await support.page.getByRole('button', { name: 'Resume' }).count()).toBe(0)
    await support.open(`/apps/${world.app.name}`)
    await support.page.getByRole('status').filter({ hasText: 'This app is paused' }).waitFor()
    expect(await support.page.getByRole('button', { name: 'Resume' }).count()).toBe(0)
    expect(support.problems).toEqual([])
  })
})
