import { eventTriggerIds, legacyTriggerIds } from '@parley/contract'
import { afterAll, expect, it } from 'vitest'
import { createOperator, createOwner, newEmail } from '../admin/operator.ts'
import { createGroup, dataOf, say } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { closeEndpoints, deliveriesOf, open as openEndpoint, register } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { describeConsole, openAs, openSignedIn } from './console.ts'

describeConsole('webhooks and events in the console, in a real browser', () => {
  afterAll(async () => {
    await closeEndpoints()
  })

  it('are created, tried, changed, switched and deleted', async () => {
    const [world, endpoint] = [await createWorld(), await openEndpoint()]
    const path = `/apps/${world.app.name}/webhooks`
    const { page, problems } = await openAs(world, { role: 'developer' }, path)
    await page.getByText('There is no webhook.').waitFor()
    expect(await findingsOf(page)).toEqual([])

    await page.getByRole('button', { name: 'Create a webhook' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('ID', { exact: false }).first().fill('orders')
    await dialog.getByLabel('Name', { exact: false }).first().fill('Orders')
    await dialog.getByLabel('Address').fill('not an address')
    await dialog.getByRole('combobox', { name: 'Triggers' }).fill('message_sent')
    await page.getByRole('option', { name: 'message_sent: a message was sent' }).click()
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Address').fill(endpoint.url)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/whsec_/).waitFor()
    expect(dataOf(await world.get('/webhooks/orders'))).toMatchObject({ triggers: ['message_sent'], enabled: true })

    // The secret is shown once.
    await page.getByRole('link', { name: 'Orders' }).click()
    await page.getByText('Nothing was delivered, and nothing waits.').waitFor()
    expect(await page.getByText(/whsec_/).count()).toBe(0)
    endpoint.behave({ status: 500, body: 'out of <b>order</b>' })
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByText('the endpoint answered 500').waitFor()
    await page.getByText('out of <b>order</b>').waitFor()
    await page.getByText('sample-alice').first().waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByText('message_sent (test)').waitFor()

    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Name', { exact: false }).first().fill('Orders and more')
    await dialog.getByRole('button', { name: 'Save' }).click()
    // Not that of the dialog, which fades out.
    await page.getByRole('heading', { name: 'Orders and more', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Disable' }).click()
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('disabled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('enabled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'New secret' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/whsec_/).waitFor()

    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByLabel(/Type orders/).fill('orders')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('There is no webhook.').waitFor()
    expect(problems).toEqual([])
  })

  it('show what became of deliveries as it happens, and send them again', async () => {
    const [world, endpoint] = [await createWorld(), await openEndpoint()]
    await createUsers(world, 'alice', 'bob')
    await register(world, endpoint.url, { retryOnFailure: false })
    const path = `/apps/${world.app.name}/webhooks/hook?live=yes`
    const { page, problems, open } = await openAs(world, { role: 'developer' }, path)
    await page.getByText('Nothing was delivered, and nothing waits.').waitFor()
    endpoint.behave({ status: 503, body: 'later' })
    await say(world, 'alice', 'bob', 'A secret of ours')
    await page.getByRole('cell', { name: '503' }).waitFor()

    // What was written is left out until somebody says why they read it.
    await page.getByRole('button', { name: 'message_sent' }).click()
    await page.getByText('What people wrote is left out until you say why you read it.').waitFor()
    await page.getByText('"conversationId"').waitFor()
    expect(await page.getByText('A secret of ours').count()).toBe(0)
    expect(await page.getByText('later', { exact: true }).count()).toBe(0)
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page.getByLabel(/Your reason/).fill('Ticket 12')
    await page.getByRole('dialog').last().getByRole('button', { name: 'Read' }).click()
    await page.getByText('A secret of ours').first().waitFor()
    await page.getByText('later', { exact: true }).waitFor()
    await page.keyboard.press('Escape')

    endpoint.behave({})
    await page.getByRole('button', { name: 'Send again' }).last().click()
    await page.getByRole('cell', { name: 'delivered' }).waitFor()
    endpoint.behave({ status: 500 })
    for (const text of ['two', 'three']) await say(world, 'alice', 'bob', text)
    await until(async () => (await deliveriesOf(world, '?status=failed')).length === 2)
    endpoint.behave({})
    await page.getByRole('button', { name: 'Send again' }).first().click()
    await page.getByLabel('Events from').fill('2020-01-01T00:00')
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await page.getByText('2 deliveries are sent again').waitFor()
    await until(async () => (await deliveriesOf(world, '?status=delivered')).length === 3)

    await open(`/apps/${world.app.name}/webhooks/hook?status=failed`)
    await page.getByText('Nothing was delivered, and nothing waits.').waitFor()
    await open(`/apps/${world.app.name}/webhooks/nowhere`)
    await page.getByText('There is no webhook with the id nowhere.').waitFor()
    expect(problems).toEqual([])
  })

  it('of version 1 are offered what they may be called for', async () => {
    const world = await createWorld()
    const made = { id: 'old', name: 'Old', webhookURL: 'http://127.0.0.1:9/', triggers: ['after_message'] }
    dataOf(await world.post('/webhooks', made, { headers: { 'X-Webhook-Version': '1' } }))
    const { page, problems } = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/webhooks/old`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Triggers' }).click()
    const offered = page.getByRole('listbox', { name: 'Triggers' }).getByRole('option')
    await offered.first().waitFor()
    const ids = (await offered.allTextContents()).map((text) => text.split(':')[0] ?? '')
    expect(ids.toSorted()).toEqual(legacyTriggerIds.toSorted())
    await page.getByRole('option', { name: /^message_read_receipt/ }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await until(async () => dataOf(await world.get('/webhooks/old')).triggers.length === 2)
    expect(problems).toEqual([])
  })

  it('are not shown to whoever may not configure', async () => {
    const world = await createWorld()
    await register(world, 'http://127.0.0.1:9/', { enabled: false })
    const owner = await createOwner(world)
    for (const role of ['moderator', 'support']) {
      const operator = await createOperator(owner, { role, apps: [world.app.name] }, newEmail())
      const { page, open } = await openSignedIn(world, operator, `/apps/${world.app.name}`)
      await page.getByRole('link', { name: 'Users' }).first().waitFor()
      expect(await page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
      await open(`/apps/${world.app.name}/webhooks`)
      await page.getByText('You may not see this').waitFor()
      expect(await page.getByRole('button', { name: 'Create a webhook' }).count()).toBe(0)
      await open(`/apps/${world.app.name}/webhooks/hook`)
      await page.getByText('You may not see this').waitFor()
      const refused = await operator.post(`/apps/${world.app.name}/webhooks/hook/test`)
      expect(refused.status).toBe(403)
    }
  })

  it('follows events as they happen, filters and pauses', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { page, problems } = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/events`)
    const asked = page.waitForResponse((response) => response.url().includes('/events'))
    await page.getByText('Nothing has happened yet.').waitFor()
    await asked
    await until(async () => {
      await say(world, 'alice', 'bob', 'only for bob')
      return (await page.getByRole('button', { name: 'message_sent' }).count()) > 0
    })
    await page.getByRole('button', { name: 'message_sent' }).first().click()
    await page.getByText('"sender": "alice"').first().waitFor()
    expect(await page.getByText('only for bob').count()).toBe(0)
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page.getByLabel(/Your reason/).fill('Ticket 13')
    await page.getByRole('dialog').getByRole('button', { name: 'Read' }).click()
    await page.getByText('only for bob').waitFor()
    await page.getByRole('combobox', { name: 'Triggers' }).click()
    const offered = page.getByRole('listbox', { name: 'Triggers' }).getByRole('option')
    await offered.first().waitFor()
    expect((await offered.allTextContents()).toSorted()).toEqual(eventTriggerIds.toSorted())
    await page.getByRole('combobox', { name: 'Triggers' }).fill('group_created')
    await page.getByRole('option', { name: 'group_created' }).click()
    expect(new URL(page.url()).searchParams.get('of')).toBe('group_created')
    // What happens during a pause is shown afterwards.
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Go on' }).waitFor()
    await createGroup(world, 'team', 'alice')
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('button', { name: 'group_created' }).waitFor()
    expect(await page.getByRole('button', { name: 'message_sent' }).count()).toBe(0)
    expect(problems).toEqual([])
  })
})
