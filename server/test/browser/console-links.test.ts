import { afterAll, expect, it } from 'vitest'
import { createOperator, createOwner } from '../admin/operator.ts'
import { dataOf, say } from '../support/chat.ts'
import { logsOf, setUpCustomPush } from '../support/notifications.ts'
import { until } from '../support/until.ts'
import { closeEndpoints, deliveriesOf, open as openEndpoint, register } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { describeConsole, openSignedIn } from './console.ts'

describeConsole('what is opened over a page of the console, in a real browser', () => {
  afterAll(closeEndpoints)

  it('is in the address: a link shows it, Back closes it, and a reload keeps it', async () => {
    const [world, endpoint] = [await createWorld(), await openEndpoint()]
    await createUsers(world, 'alice', 'bob')
    await register(world, endpoint.url)
    await setUpCustomPush(world, endpoint.url)
    const { id } = await say(world, 'alice', 'bob', 'Shall we meet?')
    dataOf(await world.post(`/messages/${id}/thread`, { data: { text: 'We shall' } }, { as: 'bob' }))
    await until(async () => (await deliveriesOf(world, '?status=delivered')).length > 0)
    await until(async () => (await logsOf(world, '?success=true')).length > 0)
    const developer = await createOperator(await createOwner(world), { role: 'developer', apps: [world.app.name] })
    const base = `/apps/${world.app.name}`
    const tab = await openSignedIn(world, developer, base)
    const { page, problems, open } = tab
    const dialog = page.getByRole('dialog')
    const menuOf = page.getByRole('button', { name: `What to do with the message ${id}` })

    const cases = [
      {
        path: `${base}/webhooks/hook?status=delivered`,
        name: 'delivery',
        openIt: () => page.getByRole('button', { name: 'message_sent' }).first().click(),
        shown: dialog.getByText('this is what an attempt would send now'),
      },
      {
        path: `${base}/notifications?channel=push`,
        name: 'entry',
        openIt: () => page.getByRole('row').nth(1).getByRole('button').click(),
        shown: dialog.getByRole('cell', { name: 'dnd', exact: true }).first(),
      },
      {
        path: `${base}/audit-log?action=webhook_created`,
        name: 'entry',
        openIt: () => page.getByRole('row').nth(1).getByRole('button').click(),
        shown: dialog.getByText('"triggers"'),
      },
      {
        path: `${base}/conversations/alice_user_bob`,
        name: 'thread',
        openIt: async () => {
          await menuOf.click()
          await page.getByRole('menuitem', { name: 'Show the thread' }).click()
        },
        shown: dialog.getByText('What was written is left out.').nth(1),
      },
      {
        path: `${base}/conversations/alice_user_bob`,
        name: 'about',
        openIt: async () => {
          await menuOf.click()
          await page.getByRole('menuitem', { name: 'Receipts and notifications' }).click()
        },
        shown: dialog.getByText('Why was somebody notified, or not?'),
      },
    ]
    for (const { path, name, openIt, shown } of cases) {
      await open(path)
      await openIt()
      await shown.waitFor()
      const link = page.url()
      expect(new URL(link).searchParams.get(name), path).toMatch(/^[\w-]+$/)
      // What else the address has stays.
      expect(link).toContain(path)
      await page.goBack()
      await dialog.waitFor({ state: 'detached' })
      expect(page.url().endsWith(path), page.url()).toBe(true)

      await page.goto(link)
      await shown.waitFor()
      await page.reload()
      await shown.waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      expect(page.url().endsWith(path), page.url()).toBe(true)
    }
    // A link to what is there no longer says so.
    for (const path of ['webhooks/hook?delivery=gone', 'notifications?entry=999999999999999', 'audit-log?entry=1_1']) {
      await open(`${base}/${path}`)
      await dialog.getByRole('alert').waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    expect(problems).toEqual([])
  })
})
