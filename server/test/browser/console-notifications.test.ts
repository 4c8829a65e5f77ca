import { afterAll, expect, it } from 'vitest'
import { createOperator, createOwner, newEmail } from '../admin/operator.ts'
import { dataOf, say } from '../support/chat.ts'
import { logsOf, setUpCustomPush } from '../support/notifications.ts'
import { soon, until } from '../support/until.ts'
import { closeEndpoints, open as openEndpoint } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { describeConsole, openAs, openSignedIn } from './console.ts'

describeConsole('notifications in the console, in a real browser', () => {
  afterAll(async () => {
    await closeEndpoints()
  })

  it('have providers that are set up, tried, changed and removed', async () => {
    const [world, endpoint] = [await createWorld(), await openEndpoint()]
    const path = `/apps/${world.app.name}/notifications?tab=providers`
    const { page, problems } = await openAs(world, { role: 'developer' }, path)
    const dialog = page.getByRole('dialog')
    const own = page.getByRole('article', { name: 'An address of yours' }).first()
    await own.getByRole('button', { name: 'Set up' }).click()
    await dialog.getByLabel('Address').fill(endpoint.url)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await own.getByRole('button', { name: 'Try it' }).click()
    await until(() => endpoint.received.length === 1)
    await page.getByText('It was taken').waitFor()
    endpoint.behave({ status: 500, body: 'out of order' })
    await own.getByRole('button', { name: 'Try it' }).click()
    await page.getByText(/500 out of order/).waitFor()
    await own.getByRole('button', { name: 'New secret' }).click()
    // The old one would not do from that moment on.
    await dialog.getByText('at once').waitFor()
    expect(await page.getByText('There is a new secret').count()).toBe(0)
    await dialog.getByRole('button', { name: 'New secret' }).click()
    await page.getByText('There is a new secret').waitFor()
    await page.getByText(/^whsec_/).waitFor()
    expect(await findingsOf(page)).toEqual([])

    const fcm = page.getByRole('article', { name: 'FCM' })
    await fcm.getByRole('button', { name: 'Set up' }).click()
    await dialog.getByLabel('ID').fill('phones')
    await dialog.getByLabel('Service account').fill('{"project_id": 1')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/this is not JSON/)
      .waitFor()
    const account = { project_id: 'shop', client_email: 'a@example.com', private_key: 'no key at all' }
    await dialog.getByLabel('Service account').fill(JSON.stringify(account))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await until(async () => (await dialog.getByRole('alert').count()) + (await fcm.getByText('phones').count()) > 0)
    await page.keyboard.press('Escape')

    const webPush = page.getByRole('article', { name: 'Web Push' })
    await webPush.getByRole('button', { name: 'Turn off' }).click()
    await webPush.getByRole('button', { name: 'Change' }).click()
    await dialog.getByRole('switch', { name: 'Is used' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await webPush.getByText('yes').waitFor()

    const twilio = page.getByRole('article', { name: 'Twilio' })
    await twilio.getByRole('button', { name: 'Set up' }).click()
    await dialog.getByLabel('Account SID').fill('sid-1')
    await dialog.getByLabel('Auth token').fill('a-token-of-twilio')
    await dialog.getByLabel('Sender').fill('+15550100')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await twilio.getByText('sid-1').waitFor()
    expect(await page.getByText('a-token-of-twilio').count()).toBe(0)
    await twilio.getByRole('button', { name: 'Change' }).click()
    await dialog.getByLabel('Sender').fill('+15550101')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await twilio.getByText('+15550101').waitFor()
    await twilio.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await twilio.getByText('Not set up').waitFor()
    expect(problems).toEqual([])
  })

  it('are logged with what was looked at, explained, and sent again', async () => {
    const [world, endpoint] = [await createWorld(), await openEndpoint()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    const { id } = await say(world, 'alice', 'bob', 'A secret of ours')
    await until(async () => (await logsOf(world, '?success=true')).length === 1)
    const path = `/apps/${world.app.name}/notifications`
    const { page, problems, open } = await openAs(world, { role: 'developer' }, path)
    await page.getByRole('cell', { name: 'delivered' }).waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('row').nth(1).getByRole('button').click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('cell', { name: 'dnd', exact: true }).waitFor()
    expect(await page.getByText('A secret of ours').count()).toBe(0)
    await drawer.getByRole('button', { name: 'Send again' }).click()
    await until(() => endpoint.received.length === 2)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Send pushes again' }).click()
    await drawer.getByRole('combobox', { name: 'Which' }).click()
    await page.getByRole('option', { name: 'delivered' }).click()
    await drawer.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('One push is decided and sent again').waitFor()

    await open(`${path}?success=stopped`)
    await page.getByText('No notification was looked at.').waitFor()
    await page.getByRole('tab', { name: 'Why, or why not' }).click()
    await page.getByLabel('Message ID').fill(String(id))
    await page.getByLabel('User ID').fill('alice')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('Not notified: OWN_ACTION. They did it themselves.').waitFor()
    await page.getByLabel('User ID').fill('nobody')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page
      .getByRole('alert')
      .getByText(/nobody/)
      .waitFor()
    await open(`${path}?tab=unsubscriptions&uid=bob`)
    await page.getByText('They have not unsubscribed from anything.').waitFor()
    expect(await findingsOf(page)).toEqual([])
    expect(problems).toEqual([])
  })

  it('say what a change of a template would say, before it is saved', async () => {
    const [world, endpoint] = [await createWorld(), await openEndpoint()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    const path = `/apps/${world.app.name}/notifications?tab=templates`
    const { page, problems, open } = await openAs(world, { role: 'owner' }, path)
    await page.getByLabel('Sender').fill('alice')
    await page.getByLabel('Receiver', { exact: true }).fill('bob')
    await page.getByRole('cell', { name: 'See you at six!' }).waitFor()
    await page.getByLabel('Body').fill('They say: {{message.data.text}}')
    await page.getByRole('cell', { name: 'They say: See you at six!' }).waitFor()
    await page.getByLabel('Text', { exact: true }).fill('<img src=x onerror=alert(1)>')
    await page.getByRole('cell', { name: 'They say: <img src=x onerror=alert(1)>' }).waitFor()
    const bodyOf = async () => {
      const { templates } = dataOf(await world.get('/notifications/v1/settings'))
      return templates.textMessageTemplateDefault.body
    }
    expect(await bodyOf()).toBe('{{message.data.text}}')
    await page.getByLabel('Body').fill('They say: {{message.data')
    await page
      .getByRole('alert')
      .getByText(/without/)
      .waitFor()
    await page.getByLabel('Body').fill('Said: {{message.data.text}}')
    await page.getByRole('button', { name: 'Save' }).click()
    await until(async () => (await bodyOf()) === 'Said: {{message.data.text}}')
    expect(await findingsOf(page)).toEqual([])
    expect(endpoint.received).toEqual([])

    await open(`/apps/${world.app.name}/notifications?tab=preferences&part=group`)
    await page.getByRole('combobox', { name: 'Messages', exact: true }).click()
    await page.getByRole('option', { name: 'only messages that mention the user' }).first().click()
    await page.getByRole('button', { name: 'Save' }).click()
    await until(async () => {
      const { preferences } = dataOf(await world.get('/notifications/v1/settings'))
      return preferences.group.messagesSetting === 3 && preferences.group.repliesSetting === 2
    })

    // When users are notified is put in day by day.
    await open(`/apps/${world.app.name}/notifications?tab=preferences&part=mute`)
    await page.getByRole('combobox', { name: 'Saturday: when' }).click()
    await page.getByRole('option', { name: 'only between' }).click()
    await page.getByLabel('Saturday: from').fill('09:30')
    await page.getByLabel('Saturday: until').fill('18:05')
    await page.getByRole('combobox', { name: 'Sunday: when' }).click()
    await page.getByRole('option', { name: 'not at all' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await soon(async () => {
      const { mute } = dataOf(await world.get('/notifications/v1/settings')).preferences
      expect(mute.schedulePreferenceSetting).toMatchObject({
        ...{ friday: { from: 0, to: 2359, dnd: false }, saturday: { from: 930, to: 1805, dnd: false } },
        ...{ sunday: { dnd: true } },
      })
    })
    await open(`/apps/${world.app.name}/users/alice?tab=notifications`)
    await page.getByText('Monday to Friday: at any time; Saturday: 09:30 to 18:05; Sunday: not at all').waitFor()
    expect(await findingsOf(page)).toEqual([])
    expect(problems).toEqual([])
  })

  it('show support the log and the settings, and nothing to change', async () => {
    const [world, endpoint] = [await createWorld(), await openEndpoint()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    await say(world, 'alice', 'bob', 'hello')
    await until(async () => (await logsOf(world, '?success=true')).length === 1)
    const owner = await createOwner(world)
    for (const role of ['support', 'moderator']) {
      const operator = await createOperator(owner, { role, apps: [world.app.name] }, newEmail())
      const path = `/apps/${world.app.name}/notifications`
      const { page, problems, open } = await openSignedIn(world, operator, path)
      await page.getByRole('row').nth(1).getByRole('button').click()
      await page.getByRole('cell', { name: 'dnd', exact: true }).waitFor()
      expect(await page.getByRole('button', { name: /again/ }).count()).toBe(0)
      await page.keyboard.press('Escape')
      expect(await page.getByRole('tab', { name: 'Providers' }).count()).toBe(0)
      await open(`${path}?tab=providers`)
      await page.getByText('You may not see this').waitFor()
      expect(await page.getByRole('button', { name: 'Set up' }).count()).toBe(0)
      await open(`${path}?tab=preferences`)
      await page.getByText('every message').waitFor()
      expect(await page.getByRole('button', { name: /Save|Reset/ }).count()).toBe(0)
      await open(`${path}?tab=templates`)
      await page.getByText('{{message.data.text}}', { exact: true }).first().waitFor()
      expect(await page.locator('main textarea').count()).toBe(0)
      expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
      await open(`${path}?tab=preferences&part=mute`)
      await page.getByText('every day at any time').waitFor()
      expect(await page.getByRole('combobox').count()).toBe(0)
      const tried = await operator.post(`/apps/${world.app.name}/notifications/push/v1/providers/custom/test`)
      expect(tried.status).toBe(403)
      expect(problems).toEqual([])
    }
  })
})
