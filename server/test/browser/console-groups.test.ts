import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dataOf } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createWorld } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { describeConsole, openAs } from './console.ts'

const history = (kind: string) => readFileSync(new URL(`../../../docs/sample-history/${kind}.ndjson`, import.meta.url))

describeConsole('groups and imports in the console, in a real browser', () => {
  it('adds members, changes scopes, bans and unbans', async () => {
    const world = await createWorld()
    for (const uid of ['ann', 'ben', 'cas', 'dan']) dataOf(await world.post('/users', { uid, name: `Name of ${uid}` }))
    dataOf(await world.post('/groups', { guid: 'garden', name: 'Garden', type: 'public', owner: 'ann' }))
    const { page, problems } = await openAs(world, { role: 'owner', apps: null }, `/apps/${world.app.name}/groups`)
    await page.getByRole('link', { name: 'Garden' }).click()
    await page.getByRole('heading', { name: '1 member' }).waitFor()
    expect(await findingsOf(page)).toEqual([])

    await page.getByRole('button', { name: 'Add members' }).click()
    for (const uid of ['ben', 'cas']) {
      await page.getByRole('dialog').getByLabel('User IDs').fill(uid)
      await page.keyboard.press('Enter')
    }
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
    await page.getByRole('link', { name: 'Name of cas' }).waitFor()
    await page.getByRole('button', { name: 'Change Name of ben' }).click()
    await page.getByRole('menuitem', { name: 'Make moderator' }).click()
    await page.getByRole('cell', { name: 'moderator', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Change Name of cas' }).click()
    await page.getByRole('menuitem', { name: 'Ban' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Ban' }).click()
    await until(async () => dataOf(await world.get('/groups/garden/bannedusers')).length === 1)
    await page.getByRole('tab', { name: 'Bans' }).click()
    await page.getByRole('button', { name: 'Unban' }).click()
    await page.getByText('Nobody is banned.').waitFor()
    await page.getByRole('button', { name: 'Ban somebody' }).click()
    await page.getByRole('dialog').getByLabel('User ID').fill('dan')
    await page.getByRole('dialog').getByRole('button', { name: 'Ban', exact: true }).click()
    await page.getByRole('link', { name: 'Name of dan' }).waitFor()

    // What the group keeps may be gone once it no longer keeps it: that is asked.
    const ofGroup = async () => dataOf(await world.get('/groups/garden/retention'))
    dataOf(await world.put('/groups/garden/retention', { days: 900, mode: 'delete' }))
    await page.getByRole('tab', { name: 'Retention' }).click()
    await page.getByRole('button', { name: 'As the app has set' }).click()
    await page.getByRole('dialog').getByText('for good').waitFor()
    expect(await ofGroup()).toMatchObject({ days: 900, isOwn: true })
    await page.getByRole('dialog').getByRole('button', { name: 'As the app has set' }).click()
    await page.getByText('ever', { exact: true }).waitFor()
    expect(await ofGroup()).toMatchObject({ isOwn: false })

    // Somebody who does not exist: the dialog stays, and says why. Who was added is shown.
    await page.getByRole('tab', { name: 'Members' }).click()
    await page.getByRole('button', { name: 'Add members' }).click()
    for (const uid of ['cas', 'nobody']) {
      await page.getByRole('dialog').getByLabel('User IDs').fill(uid)
      await page.keyboard.press('Enter')
    }
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
    await page.getByRole('dialog').getByText('Not added: nobody').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Name of cas' }).waitFor()
    expect(problems).toEqual([])
  })

  it('imports a history, names what is refused, and passes over what is there', async () => {
    const world = await createWorld()
    const { page, problems } = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/import`)
    const broken = '{"uid": "odd", "name": "Odd", "avatar": "not an address"}\n{"uid": \n'
    const files = [
      {
        name: 'users.ndjson',
        mimeType: 'application/x-ndjson',
        buffer: Buffer.concat([history('users'), Buffer.from(broken)]),
      },
      ...['groups', 'members', 'messages'].map((kind) => ({
        ...{ name: `${kind}.ndjson`, mimeType: 'application/x-ndjson', buffer: history(kind) },
      })),
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('not for the import') },
    ]
    const choose = async () => {
      await page.locator('input[type=file]').first().setInputFiles(files)
      await page.getByRole('button', { name: 'Import', exact: true }).click()
      await page.getByText('Done.').waitFor()
    }
    await choose()
    const cells = (kind: string) =>
      page
        .getByRole('row', { name: new RegExp(`^${kind}\\b`) })
        .first()
        .getByRole('cell')
        .allTextContents()
    expect(await cells('users')).toEqual(['users', '7', '5', '0', '2'])
    expect(await cells('groups')).toEqual(['groups', '1', '1', '0', '0'])
    expect(await cells('members')).toEqual(['members', '5', '5', '0', '0'])
    expect(await cells('messages')).toEqual(['messages', '20', '20', '0', '0'])
    expect(await page.getByRole('table', { name: 'Refused records' }).getByRole('row').count()).toBe(3)
    expect(await findingsOf(page)).toEqual([])

    await choose()
    await until(async () => (await cells('messages')).join(' ') === 'messages 20 0 20 0')
    expect(await cells('users')).toEqual(['users', '7', '0', '5', '2'])
    expect(problems).toEqual([])
  })
})
