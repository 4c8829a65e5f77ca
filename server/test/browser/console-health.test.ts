import { afterAll, afterEach, expect, it } from 'vitest'
import { startJournal } from '../../src/emulators/journal.ts'
import { createOperator, createOwner } from '../admin/operator.ts'
import { createGroup, say } from '../support/chat.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { until } from '../support/until.ts'
import { closeEndpoints, open as openEndpoint, register } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { describeConsole, openAs, openSignedIn } from './console.ts'

/** A webhook whose endpoint fails, as the service knows by now. */
async function failWebhook(world: World) {
  const endpoint = await openEndpoint()
  endpoint.behave({ status: 500 })
  await createUsers(world, 'alice', 'bob')
  await register(world, endpoint.url, { retryOnFailure: false })
  await say(world, 'alice', 'bob', 'hi')
  await until(async () => (await world.get('/webhooks/hook')).body.data.failingSince !== undefined)
}

describeConsole('health in the console, in a real browser', () => {
  let own: OwnServices | undefined

  afterEach(async () => {
    await own?.close()
    own = undefined
  })
  afterAll(async () => {
    await closeEndpoints()
  })

  it('shows what is wrong with an app on its first page, with a link to where it is mended', async () => {
    const world = await createWorld()
    const { page, problems, open, load } = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}`)
    await page.getByText('Nothing is wrong.').waitFor()
    expect(await findingsOf(page)).toEqual([])
    await failWebhook(world)
    await load(`/apps/${world.app.name}`)
    await page.getByText('1 webhook fails.').waitFor()
    expect(await findingsOf(page)).toEqual([])
    // What is of the deployment is for those who look after all apps.
    expect(await page.getByText('Database', { exact: true }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Health' }).count()).toBe(0)
    await open('/health')
    await page.getByText('You may not see this').first().waitFor()
    await open(`/apps/${world.app.name}`)
    await page.getByRole('link', { name: `${world.app.name}: hook` }).click()
    await page.getByRole('heading', { name: 'hook' }).first().waitFor()
    expect(problems).toEqual([])
  })

  it('shows it to support and moderators, too, without links to what they may not see', async () => {
    const world = await createWorld()
    await failWebhook(world)
    for (const role of ['support', 'moderator']) {
      const { page } = await openAs(world, { role }, `/apps/${world.app.name}`)
      await page.getByText('1 webhook fails.').waitFor()
      expect(await page.getByRole('link', { name: `${world.app.name}: hook` }).count()).toBe(0)
    }
  })

  it('shows what came to the emulators beside it, and the limits that hold', async () => {
    const journal = await startJournal({ port: 0 })
    own = await createOwnServices()
    const world = await createWorld(await own.start({ EMULATORS_URL: journal.endpoint }))
    const owner = await createOwner(world)
    const path = `/apps/${world.app.name}/notifications`
    const { page, problems, open } = await openSignedIn(world, owner, path)
    journal.add('FCM 200 to a-device: Alice: <b>hi</b>')
    await page.getByRole('tab', { name: 'Emulators' }).click()
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/Your reason/)
      .fill('Trying out pushes')
    await page.getByRole('dialog').getByRole('button', { name: 'Read' }).click()
    await page.getByText('FCM 200 to a-device: Alice: <b>hi</b>').waitFor()
    expect(await findingsOf(page)).toEqual([])
    await journal.close()
    await page.getByText('The emulators do not answer', { exact: false }).waitFor()
    await open(`/apps/${world.app.name}/settings`)
    await page.getByRole('cell', { name: 'markUnreadPerUser' }).or(page.getByText('Nothing is limited.')).waitFor()
    await page.getByText('365 days (AUDIT_RETENTION_DAYS)').waitFor()
    expect(await findingsOf(page)).toEqual([])

    const ofOne = await createOperator(owner, { role: 'owner', apps: [world.app.name] })
    const theirs = await openSignedIn(world, ofOne, path)
    await theirs.page.getByRole('tab', { name: 'Log' }).waitFor()
    expect(await theirs.page.getByRole('tab', { name: 'Emulators' }).count()).toBe(0)
    expect([...problems, ...theirs.problems]).toEqual([])
  })

  it('says how the deployment does, and runs the doctor, also while the page is closed', async () => {
    own = await createOwnServices()
    const service = await own.start()
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await own.query('update groups set members_count = 9')
    const owner = await createOwner(world)
    const { page, problems, open } = await openSignedIn(world, owner, '/health')
    await page.getByText('It has never run.').waitFor()
    await page.getByText('The event log is up to date.').waitFor()
    expect(await findingsOf(page)).toEqual([])
    // What cannot be looked at again is not shown as if it were so now.
    await page.route('**/admin/v1/health', (route) => route.fulfill({ status: 503, json: {} }))
    await page.getByRole('button', { name: 'Look again' }).click()
    await page.getByRole('alert').getByText('What is shown here is of').waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.unroute('**/admin/v1/health')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('What is shown here is of').waitFor({ state: 'detached' })

    const release = await own.lock('lock table active_user_bits in access exclusive mode')
    await page.getByRole('button', { name: 'Run the doctor' }).click()
    await page.getByText('checks: active users').waitFor()
    await page.getByText('members_count of a group is not the number of its active members').waitFor()
    await page.getByRole('cell', { name: 'team', exact: true }).waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.reload()
    await page.getByText('checks: active users').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('stopped', { exact: true }).waitFor()
    await release()
    await page.getByRole('button', { name: 'Run the doctor' }).click()
    await page.getByText('done', { exact: true }).waitFor()

    // Whoever is support sees what was found, and runs nothing.
    const support = await createOperator(owner, { role: 'support' })
    const theirs = await openSignedIn(world, support, '/health')
    await theirs.page.getByText('done', { exact: true }).waitFor()
    expect(await theirs.page.getByRole('button', { name: 'Run the doctor' }).count()).toBe(0)
    await open(`/apps/${world.app.name}`)
    await page.getByRole('link', { name: 'Database' }).waitFor()
    expect([...problems, ...theirs.problems]).toEqual([])
  })
})
