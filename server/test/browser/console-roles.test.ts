import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { createOperator, createOwner, newEmail } from '../admin/operator.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { describeConsole, openAs, openSignedIn } from './console.ts'

/** A cell of a matrix. @param column of a role, counted from 0 */
const cellOf = (page: Page, title: string, column: number) =>
  page
    .getByRole('table', { name: 'Permissions' })
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: title, exact: false }) })
    .getByRole('cell')
    .nth(column)

describeConsole('roles in the console, in a real browser', () => {
  it('are created, changed and deleted', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { page, problems } = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/roles`)
    await page.getByRole('columnheader', { name: 'default' }).first().waitFor()
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Create a role' }).click()
    await dialog.getByLabel('ID').fill('default')
    await dialog.getByLabel('Name').fill('Guests')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('ID').fill('guest')
    await dialog.getByRole('combobox', { name: 'Users that they can list' }).click()
    await page.getByRole('option', { name: 'friends only' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('columnheader', { name: 'Guests' }).first().waitFor()
    expect(dataOf(await world.get('/roles/guest')).settings).toEqual({ listUsers: 'friendsOnly' })
    expect(await findingsOf(page)).toEqual([])

    // How many it touches, with a way to them.
    dataOf(await world.put('/users/bob', { role: 'guest' }))
    await page.reload()
    await page.getByRole('link', { name: '1 user with the role Guests' }).click()
    await page.getByRole('cell', { name: 'guest', exact: true }).waitFor()
    await page.goBack()

    // The role that everybody has otherwise cannot be deleted.
    await page.getByRole('button', { name: 'Delete Guests' }).waitFor()
    const roles = page.getByRole('table', { name: 'Roles', exact: true })
    expect(await roles.getByRole('button', { name: /^Delete/ }).count()).toBe(1)
    await page.getByRole('button', { name: 'Delete Guests' }).click()
    await dialog.getByLabel(/Type guest/).fill('guest')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await until(async () => refusal(await world.get('/roles/guest')) === '404 ERR_ROLE_NOT_FOUND')
    expect(dataOf(await world.get('/users/bob')).role).toBe('default')
    expect(problems).toEqual([])
  })

  it('are one matrix of features and one of permissions, in which each cell is changed', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'guest', name: 'Guests' }))
    const { page, problems } = await openAs(world, { role: 'owner' }, `/apps/${world.app.name}/roles`)
    const feature = page.getByRole('checkbox', { name: 'Create a group: restricted for Guests' })
    await feature.click()
    await until(async () => dataOf(await world.get('/roles/guest/restrictedfeatures'))[0]?.key === 'u.createGroup')
    await page.getByRole('checkbox', { name: 'Create a group: restricted for Guests', checked: true }).click()
    await until(async () => dataOf(await world.get('/roles/guest/restrictedfeatures')).length === 0)

    const permissions = dataOf(await world.get('/roles/guest/permissions?perPage=100'))
    const choice = permissions.find(({ dataType }: { dataType: string }) => dataType === 'string')
    const list = permissions.find(({ dataType }: { dataType: string }) => dataType === 'customStringArray')
    const setValueOf = async (id: string) =>
      dataOf(await world.get('/roles/guest/permissions?perPage=100')).find((one: { id: string }) => one.id === id).value
    // Roles are listed newest first: the first column is that of guests.
    await cellOf(page, choice.title, 0).getByRole('button').first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox').click()
    await page.getByRole('option', { name: 'deny', exact: true }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await until(async () => (await setValueOf(choice.id)) === 'deny')
    await page.getByRole('button', { name: `${choice.title}, of Guests: as by default` }).click()
    await until(async () => (await setValueOf(choice.id)) === undefined)

    // What the service does not take stays in the dialog, with the reason.
    await cellOf(page, list.title, 0).getByRole('button').first().click()
    await dialog.getByRole('combobox').fill('x'.repeat(300))
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').getByText(list.id).waitFor()
    expect(await setValueOf(list.id)).toBeUndefined()
    await page.keyboard.press('Escape')
    expect(await findingsOf(page)).toEqual([])
    expect(problems).toEqual([])
  })

  it('are seen and not changed by support and moderators', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    for (const role of ['support', 'moderator']) {
      const operator = await createOperator(owner, { role, apps: [world.app.name] }, newEmail())
      const { page, problems } = await openSignedIn(world, operator, `/apps/${world.app.name}/roles`)
      const features = page.getByRole('table', { name: 'Restricted features' })
      await features.getByRole('cell', { name: 'allowed' }).first().waitFor()
      expect(await page.getByRole('checkbox').count()).toBe(0)
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
      const refused = await operator.put(`/apps/${world.app.name}/roles/default`, { name: 'Mine' })
      expect(refused.status).toBe(403)
      expect(problems).toEqual([])
    }
  })
})
