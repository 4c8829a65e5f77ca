import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newEmail } from '../admin/operator.ts'
import { dataOf, say } from '../support/chat.ts'
import { settledAs } from '../support/engines.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { createWorld } from '../support/world.ts'
import { describeConsole, openConsole, ownerLink, password } from './console.ts'

const history = path.join(import.meta.dirname, '../../../docs/sample-history')
const files = ['users', 'groups', 'members', 'messages'].map((kind) => path.join(history, `${kind}.ndjson`))

describeConsole('the first ten minutes of docs/console.md, in a real browser', () => {
  let own: OwnServices

  beforeAll(async () => {
    own = await createOwnServices()
  })
  afterAll(async () => {
    await own?.close()
  })

  it('lead from a first start to a moderated app with a second operator', async () => {
    const world = await createWorld(await own.start())
    const { page, problems } = await openConsole(world, await ownerLink(world))
    const dialog = page.getByRole('dialog')
    await page.getByLabel('E-mail address').fill(newEmail())
    await page.getByLabel('Your name').fill('Olga')
    await page.getByLabel('Password').first().fill(password)
    await page.getByRole('button', { name: 'Create the account' }).click()

    await page.getByRole('link', { name: 'Apps' }).click()
    await page.getByRole('link', { name: world.app.name, exact: true }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('link', { name: 'Import' }).click()
    await page.locator('input[type=file]').first().setInputFiles(files)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Done.').waitFor()

    await page.getByRole('link', { name: 'Moderation' }).click()
    await page.getByRole('tab', { name: 'Rules' }).click()
    await page.getByRole('link', { name: 'Swear words', exact: true }).click()
    await page.getByLabel('One text a line').fill('what the fuck\nhow nice')
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page
      .getByRole('row', { name: /what the fuck/ })
      .getByText(/condition/)
      .waitFor()
    await page.getByRole('button', { name: 'Start' }).click()
    await dialog.getByRole('button', { name: 'Start' }).click()
    await page.getByText('done', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Set to on' }).click()
    await page.getByRole('button', { name: 'Set to shadow' }).waitFor()

    await page.getByRole('link', { name: 'Operators', exact: true }).click()
    await page.getByRole('button', { name: 'Invite somebody' }).click()
    await dialog.getByLabel('E-mail address').fill(newEmail())
    await dialog.getByRole('button', { name: 'Invite' }).click()
    const invitation =
      (await page
        .getByText(/#invitation=/)
        .first()
        .textContent()) ?? ''
    const theirs = await openConsole(world, new URL(invitation).hash)
    const { page: moderator } = theirs
    await moderator.getByLabel('Your name').fill('Mo')
    await moderator.getByLabel('Password').first().fill(password)
    await moderator.getByRole('button', { name: 'Create the account' }).click()
    await moderator.getByRole('button', { name: /your account/ }).waitFor()

    const [sender = '', receiver = ''] = readFileSync(files[0] ?? '', 'utf8')
      .split('\n')
      .map((line) => (line === '' ? '' : JSON.parse(line).uid))
    const { id } = await say(world, sender, receiver, 'what the fuck')
    await theirs.open(`/apps/${world.app.name}/moderation?of=blocked`)
    await moderator.getByRole('button', { name: 'Read', exact: true }).click()
    await moderator
      .getByRole('dialog')
      .getByLabel(/Your reason/)
      .fill('The queue of today')
    await moderator.getByRole('dialog').getByRole('button', { name: 'Read' }).click()
    await moderator.locator('article').getByText('what the fuck', { exact: true }).waitFor()
    await moderator.getByRole('button', { name: 'Approve', exact: true }).click()
    await moderator.getByText('Nothing was held back.').waitFor()
    await settledAs(world, id, 'approved')
    expect(dataOf(await world.get(`/messages/${id}`)).data.text).toBe('what the fuck')
    expect([...problems, ...theirs.problems]).toEqual([])
  })
})
