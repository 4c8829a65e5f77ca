import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { createOperator, createOwner, newEmail } from '../admin/operator.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { importWell, text } from '../support/imports.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { breakMessage } from './broken.ts'
import { describeConsole, openAs, openSignedIn } from './console.ts'

const conversationOf = ({ app }: World) => `/apps/${app.name}/conversations/alice_user_bob`

async function readFor(page: Page, reason: string): Promise<void> {
  await page.getByRole('button', { name: 'Read', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/Your reason/).fill(reason)
  await dialog.getByRole('button', { name: 'Read' }).click()
}

describeConsole('messages in the console, in a real browser', () => {
  it('are read for a reason, live, with threads, receipts and deletions', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const first = await say(world, 'alice', 'bob', 'Meet me at six')
    const path = `/apps/${world.app.name}/messages`
    const { page, problems } = await openAs(world, { role: 'moderator' }, path)
    await page.getByRole('link', { name: 'alice and bob' }).click()
    await page.getByText('What was written is left out.').waitFor()
    expect(await page.getByText('Meet me at six').count()).toBe(0)
    expect(await findingsOf(page)).toEqual([])

    await page.getByRole('button', { name: 'Read', exact: true }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Read' }).isDisabled()).toBe(true)
    await dialog.getByLabel(/Your reason/).fill('Report 17')
    await dialog.getByRole('button', { name: 'Read' }).click()
    await page.getByText('Meet me at six').waitFor()
    const log = dataOf(await world.get('/audit-log?action=reading_opened'))
    expect(log).toMatchObject([{ target: { type: 'conversation' }, details: { reason: 'Report 17' } }])

    // What is written, edited and deleted meanwhile is seen.
    const second = await say(world, 'bob', 'alice', 'I <b>will</b>')
    await page.getByText('I <b>will</b>').waitFor()
    dataOf(await world.put(`/messages/${first.id}`, { data: { text: 'Meet me at seven' } }, { as: 'alice' }))
    await page.getByText('Meet me at seven').waitFor()
    await page.getByText(/edited .* by alice/).waitFor()
    // Also what is edited in the second in which it was sent.
    const { id: third } = await say(world, 'alice', 'bob', 'Bring Carol')
    await page.getByText('Bring Carol').waitFor()
    dataOf(await world.put(`/messages/${third}`, { data: { text: 'Bring everybody' } }, { as: 'alice' }))
    await page.getByText('Bring everybody').waitFor()
    await page.getByRole('button', { name: `What to do with the message ${second.id}` }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText(/deleted .* by/).waitFor()
    await until(async () => dataOf(await world.get(`/messages/${second.id}`)).deletedAt !== undefined)

    // What is imported has a new ID and an old time: it stands where its time is.
    await importWell(world, 'messages', [text('Years ago', 'bob', 'alice', 1_600_000_000)])
    await page.reload()
    await page.getByText('Years ago').waitFor()
    expect(await page.locator('main article').first().textContent()).toContain('Years ago')

    await page.getByRole('button', { name: `What to do with the message ${first.id}` }).click()
    await page.getByRole('menuitem', { name: 'Receipts and notifications' }).click()
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('Not notified: NO_PROVIDER').waitFor()
    expect(await findingsOf(page)).toEqual([])
    expect(problems).toEqual([])
  })

  it('are shown beside one that says something of another kind, and one that cannot be drawn', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'A good one')
    const odd = await say(world, 'alice', 'bob', 'An odd one')
    const broken = await say(world, 'alice', 'bob', 'A broken one')
    const data = { text: { a: 1 }, attachments: ['b', { url: 5 }, { url: 'https://example.com/c', name: {} }] }
    await world.context.database.run(
      sql`update messages set data = ${JSON.stringify(data)} where app_id = ${world.app.appId} and id = ${odd.id}`,
    )
    const { page } = await openAs(world, { role: 'moderator' }, `/apps/${world.app.name}/messages`)
    await breakMessage(page, 'A broken one')
    await page.getByRole('link', { name: 'alice and bob' }).click()
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/Your reason/)
      .fill('Report 18')
    await page.getByRole('dialog').getByRole('button', { name: 'Read' }).click()
    await page.getByText('A good one').waitFor()
    const shown = page.locator(`article[data-message-id="${odd.id}"]`)
    for (const text of ['"a": 1', '"b"', '"url": 5', 'https://example.com/c']) await shown.getByText(text).waitFor()
    await page.getByText('This message cannot be shown.').waitFor()
    // It can be deleted all the same.
    await page.getByRole('button', { name: `What to do with the message ${broken.id}` }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
  })

  it('are scrolled back to the first, and found by what they say', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const first = await sayInGroup(world, 'bob', 'team', 'Message no. 1.')
    for (let n = 2; n <= 120; n++) await sayInGroup(world, n % 2 === 0 ? 'alice' : 'bob', 'team', `Message no. ${n}.`)
    await sayInGroup(world, 'bob', 'team', '今晚吃火锅吗？')
    const { page, problems, open } = await openAs(
      world,
      { role: 'moderator' },
      `/apps/${world.app.name}/messages?tab=search`,
    )
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/Your reason/)
      .fill('Looking for the first')
    await page.getByRole('dialog').getByRole('button', { name: 'Read' }).click()
    await page.getByLabel('Text to look for').fill('火锅')
    await page.keyboard.press('Enter')
    await page.getByText('今晚吃火锅吗？').waitFor()
    await page.getByLabel('Text to look for').fill('no. 3.')
    await page.keyboard.press('Enter')
    // What was found before stays in sight until this is.
    await page.getByText('Message no. 3.', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'In its conversation' }).first().click()
    await page.getByRole('heading', { name: 'Conversation' }).waitFor()
    await page.getByText('Message no. 3.', { exact: true }).waitFor()
    await page.getByText('Message no. 1.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'To the newest' }).click()
    await page.getByText('今晚吃火锅吗？').waitFor()
    for (const text of ['Message no. 71.', 'Message no. 1.']) {
      await page.getByRole('button', { name: 'Older ones' }).click()
      await page.getByText(text, { exact: true }).waitFor()
    }
    // Whoever has written since has read it.
    await open(`/apps/${world.app.name}/conversations/group_team?about=${first.id}`)
    await page.getByRole('table', { name: 'Receipts' }).getByRole('row', { name: /Alice/ }).waitFor()
    await open(`/apps/${world.app.name}/messages?tab=search&q=nothing-like-it`)
    await page.getByText('Nothing is found.').waitFor()
    expect(problems).toEqual([])
  })

  it('stay with a word about it where they cannot be loaded again, and go where they may not be seen any more', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'Meet me at six')
    const { page } = await openAs(world, { role: 'moderator' }, conversationOf(world))
    await readFor(page, 'Report 18')
    await page.getByText('Meet me at six').waitFor()
    const asked = /\/messages\?/
    const refuse = (status: number, code: string) =>
      page.route(asked, (route) => route.fulfill({ status, json: { error: { code, message: 'No' } } }))

    await refuse(500, 'ERR_EXCEPTION')
    await say(world, 'bob', 'alice', 'I will')
    await page.getByText(/What is shown here is of/).waitFor()
    await page.getByText('Meet me at six').waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.unroute(asked)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('I will').waitFor()
    await page.getByText(/What is shown here is of/).waitFor({ state: 'detached' })

    await refuse(403, 'ERR_PERMISSION_DENIED')
    await say(world, 'bob', 'alice', 'Where are you?')
    await page.getByText('You may not see this').waitFor()
    expect(await page.getByText('Meet me at six').count()).toBe(0)
  })

  it('go on as they are sent once the newest are reached from one in the midst', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const sentAt = 1_600_000_000
    const many = Array.from({ length: 70 }, (_, n) => text(`No. ${n + 1}.`, 'alice', 'bob', sentAt + n))
    await importWell(world, 'messages', many)
    const listed = dataOf(await world.get(`/messages?conversationId=alice_user_bob&limit=1`))
    const { page, problems } = await openAs(
      world,
      { role: 'moderator' },
      `${conversationOf(world)}?at=${listed[0]?.id}`,
    )
    await readFor(page, 'Report 19')
    await page.getByText('No. 1.', { exact: true }).waitFor()
    const newer = page.getByRole('button', { name: 'Newer ones' })
    await page.route(/\/messages\?/, (route) => route.fulfill({ status: 500, json: {} }))
    await newer.click()
    await page.getByText('This could not be loaded').first().waitFor()
    await page.unroute(/\/messages\?/)
    await newer.click()
    await page.getByText('No. 70.', { exact: true }).waitFor()
    await newer.waitFor({ state: 'detached' })
    await say(world, 'bob', 'alice', 'And on it goes')
    await page.getByText('And on it goes').waitFor()
    expect(problems).toEqual([])
  })

  it('are not shown to whoever may not read them', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'Between us')
    const owner = await createOwner(world)
    const support = await createOperator(owner, { role: 'support', apps: [world.app.name] }, newEmail())
    const { page, problems, open } = await openSignedIn(world, support, `/apps/${world.app.name}/messages`)
    await page.getByRole('link', { name: 'alice and bob' }).click()
    await page.getByText('you do not have the right to read it').waitFor()
    await page.getByText('What was written is left out.').waitFor()
    expect(await page.getByRole('button', { name: 'Read', exact: true }).count()).toBe(0)
    await open(`/apps/${world.app.name}/conversations/nowhere`)
    await page.getByText('Nothing was written in this conversation.').waitFor()
    expect(problems).toEqual([])
  })
})
