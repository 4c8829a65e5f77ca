import { expect, it } from 'vitest'
import { dataOf, say } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { describeConsole, openAs } from './console.ts'

/** Messages of alice that bob has flagged. */
async function flagged(world: World, ...said: string[]): Promise<string[]> {
  await createUsers(world, 'alice', 'bob')
  const ids: string[] = []
  for (const text of said) {
    const { id } = await say(world, 'alice', 'bob', text)
    dataOf(await world.post(`/messages/${id}/flagged`, { remark: 'look at this' }, { as: 'bob' }))
    ids.push(id)
  }
  return ids
}

const statusOf = async (world: World, id: string) =>
  dataOf(await world.get('/moderation/reviewed-messages')).find(
    ({ message }: { message: { id: string } }) => message.id === id,
  )?.decision

describeConsole('moderation in the console, in a real browser', () => {
  it('goes through the queue by keys, with the other decision, claims, notes and many at once', async () => {
    const world = await createWorld()
    const ids = await flagged(world, 'one', 'two', 'three', 'four', 'five')
    const { page, problems } = await openAs(world, { role: 'moderator' }, `/apps/${world.app.name}/moderation`)
    await page.getByText('Flagged (5)').or(page.locator('input[value="Flagged (5)"]')).first().waitFor()
    expect(await page.getByText('one', { exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/Your reason/)
      .fill('The queue of today')
    await page.getByRole('dialog').getByRole('button', { name: 'Read' }).click()
    const shown = (text: string) => page.locator('article').getByText(text, { exact: true }).waitFor()
    await shown('one')
    await page.getByRole('list', { name: 'Around it' }).getByText('alice: two').waitFor()
    expect(await findingsOf(page)).toEqual([])

    await page.getByRole('button', { name: 'Claim', exact: true }).click()
    await page.getByRole('button', { name: 'Give back' }).click()
    await page.getByRole('button', { name: 'Claim', exact: true }).waitFor()
    expect(dataOf(await world.get('/moderation/queue')).flagged.claimed).toBe(0)

    // Letters in a field are letters.
    await page.getByLabel('Note').fill('approve a removal')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('approve a removal').first().waitFor()
    expect(await statusOf(world, ids[0]!)).toBeUndefined()
    // A note is deleted for good.
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByText('approve a removal').waitFor()
    expect(dataOf(await world.get(`/moderation/messages/${ids[0]}/notes`))).toHaveLength(1)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('approve a removal').first().waitFor({ state: 'detached' })

    await page.locator('article').click()
    await page.keyboard.press('j')
    await shown('two')
    await page.keyboard.press('k')
    await shown('one')
    await page.keyboard.press('Control+a')
    await page.keyboard.press('c')
    await page.getByText(/until/).first().waitFor()
    await page.keyboard.press('a')
    await shown('two')
    await until(async () => (await statusOf(world, ids[0]!)) === 'approved')
    await page.keyboard.press('u')
    await until(async () => (await statusOf(world, ids[0]!)) === 'disapproved')
    await page.keyboard.press('r')
    await shown('three')
    await until(async () => (await statusOf(world, ids[1]!)) === 'disapproved')

    await page.getByLabel(`Choose the message ${ids[2]}`).check()
    await page.getByLabel(`Choose the message ${ids[4]}`).check()
    await page.getByRole('button', { name: 'Approve all' }).click()
    await shown('four')
    await until(async () => (await statusOf(world, ids[4]!)) === 'approved')
    await page.keyboard.press('u')
    for (const id of [ids[2]!, ids[4]!]) await until(async () => (await statusOf(world, id)) === 'disapproved')
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('Nothing waits for a decision.').waitFor()
    await page.getByRole('tab', { name: 'Reviewed' }).click()
    await page.getByRole('link', { name: 'alice: four' }).waitFor()
    expect(await findingsOf(page)).toEqual([])
    expect(problems).toEqual([])
  })

  it('stores a note once, however often its button is clicked, and leaves what is typed meanwhile', async () => {
    const world = await createWorld()
    const [id] = await flagged(world, 'one')
    const { page, problems } = await openAs(world, { role: 'moderator' }, `/apps/${world.app.name}/moderation`)
    let go = () => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    await page.route(/\/notes$/, async (route) => {
      if (route.request().method() === 'POST') await held
      await route.continue()
    })
    await page.getByLabel('Note').fill('to be looked at')
    const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/notes'))
    await page.getByRole('button', { name: 'Add' }).dblclick()
    await sent
    await page.getByLabel('Note').fill('and one more')
    go()
    await page.getByText('to be looked at').waitFor()
    expect(await page.getByLabel('Note').inputValue()).toBe('and one more')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.locator('p').getByText('and one more').waitFor()
    const notes = dataOf(await world.get(`/moderation/messages/${id}/notes`))
    expect(notes.map(({ text }: { text: string }) => text).sort()).toEqual(['and one more', 'to be looked at'])
    expect(problems).toEqual([])
  })

  it('keeps what is in view where somebody else decides about it, and takes a key that is held down for one', async () => {
    const world = await createWorld()
    const ids = await flagged(world, 'one', 'two', 'three', 'four')
    const path = `/apps/${world.app.name}/moderation?at=${ids[1]}`
    const { page, problems, load } = await openAs(world, { role: 'moderator' }, path)
    await page.locator('article').click()
    await world.call('PATCH', `/moderation/flagged-messages/${ids[1]}`, { status: 'approved', reviewedBy: 'Mo' })
    await page.getByText('Somebody else has decided').waitFor()
    expect(await page.getByRole('button', { name: 'Remove', exact: true }).count()).toBe(0)
    await page.keyboard.press('r')
    await page.keyboard.press('j')
    await page.getByRole('button', { name: 'Remove', exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get('at')).toBe(ids[2])
    // Held down: the first press counts.
    await page.keyboard.down('r')
    for (let n = 0; n < 10; n++) await page.keyboard.down('r')
    await page.keyboard.up('r')
    await until(async () => (await statusOf(world, ids[2]!)) === 'disapproved')
    await page.getByRole('button', { name: /what was decided last/ }).waitFor()
    for (const id of [ids[0]!, ids[3]!]) expect(await statusOf(world, id)).toBeUndefined()

    // The same holds for the first, shown in place of one that is not there any more.
    await load(`/apps/${world.app.name}/moderation?at=${ids[1]}`)
    await page.getByRole('button', { name: 'Remove', exact: true }).waitFor()
    await page.locator('article').click()
    await world.call('PATCH', `/moderation/flagged-messages/${ids[0]}`, { status: 'approved', reviewedBy: 'Mo' })
    await page.getByText('Somebody else has decided').waitFor()
    await page.keyboard.press('r')
    await page.keyboard.press('j')
    await page.getByRole('button', { name: 'Remove', exact: true }).waitFor()
    expect(await statusOf(world, ids[3]!)).toBeUndefined()
    expect(problems).toEqual([])
  })

  it('says what somebody else has claimed, and has a button for more of a long queue', async () => {
    const world = await createWorld()
    const ids = await flagged(world, ...Array.from({ length: 51 }, (_, n) => `number ${n}`))
    const { page, problems } = await openAs(world, { role: 'moderator' }, `/apps/${world.app.name}/moderation`)
    await page.getByRole('button', { name: 'Claim', exact: true }).waitFor()
    await world.post('/moderation/claims', { list: 'flagged', reviewer: 'rita', ids: [ids[0]] })
    await page.locator('article').click()
    await page.keyboard.press('c')
    await page.getByText('Not claimed: somebody else has it').waitFor()
    expect(await page.getByLabel(`Choose the message ${ids[50]}`).count()).toBe(0)
    await page.getByRole('button', { name: 'More', exact: true }).press('Enter')
    await page.getByLabel(`Choose the message ${ids[50]}`).waitFor()
    expect(problems).toEqual([])
  })

  it('says who was faster, and is only looked at by support', async () => {
    const world = await createWorld()
    const [id] = await flagged(world, 'one')
    const path = `/apps/${world.app.name}/moderation`
    const { page } = await openAs(world, { role: 'moderator' }, path)
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await world.call('PATCH', `/moderation/flagged-messages/${id}`, { status: 'disapproved', reviewedBy: 'Mo' })
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page
      .getByText(/already/)
      .first()
      .waitFor()
    await page.getByText('Nothing waits for a decision.').waitFor()
    expect(await statusOf(world, id!)).toBe('disapproved')

    const other = await createWorld()
    await flagged(other, 'between us')
    const support = await openAs(other, { role: 'support' }, `/apps/${other.app.name}/moderation`)
    await support.page.locator('article').waitFor()
    expect(await support.page.getByRole('list', { name: 'Around it' }).count()).toBe(0)
    expect(await support.page.getByText('between us').count()).toBe(0)
    for (const name of ['Approve', 'Remove', 'Claim', 'Add']) {
      expect(await support.page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
    }
    await support.page.keyboard.press('a')
    await support.page.getByRole('tab', { name: 'Rules' }).click()
    await support.page.getByRole('table', { name: 'Rules' }).waitFor()
    expect(await support.page.getByRole('button', { name: 'Create a rule' }).count()).toBe(0)
    expect(support.problems).toEqual([])
  })

  it('makes a rule, tries it, lets it look at what was sent, and turns it on', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'you moron')
    await say(world, 'alice', 'bob', 'dear friend')
    const path = `/apps/${world.app.name}/moderation?tab=rules`
    const { page, problems } = await openAs(world, { role: 'moderator' }, path)
    await page.getByRole('button', { name: 'Create a rule' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('ID').fill('insults')
    await dialog.getByLabel('Name').first().fill('Insults')
    await dialog.getByLabel('Conditions').fill('[{"operand": "text", "category": "word", "value": [')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog
      .getByLabel('Conditions')
      .fill('[{"operand": "text", "category": "word", "operator": "contains", "value": ["moron"]}]')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Insults' }).click()
    await page.getByLabel('One text a line').fill('what a moron\nhow nice')
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page
      .getByRole('row', { name: /what a moron/ })
      .getByText(/condition 1/)
      .waitFor()
    await page
      .getByRole('row', { name: /how nice/ })
      .getByText('no')
      .waitFor()

    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click()
    await page.getByText('left out').first().waitFor()
    await page.reload()
    await page.getByText('left out').first().waitFor()
    await page.getByRole('button', { name: 'right' }).click()
    await page.getByText(/100\.0 % of 1 labelled/).waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Set to on' }).click()
    await page.getByRole('button', { name: 'Set to shadow' }).waitFor()
    await until(async () => dataOf(await world.get('/moderation/rules/insults')).mode === 'on')
    await page.getByRole('row', { name: /_1/ }).getByText('mode').waitFor()

    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByLabel(/Type insults/).fill('insults')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The rule was deleted').waitFor()
    await page.getByRole('button', { name: 'Create a rule' }).waitFor()
    expect((await world.get('/moderation/rules/insults')).status).toBe(404)
    expect(problems).toEqual([])
  })

  it('compares how a list was with how it is now', async () => {
    const world = await createWorld()
    const list = { id: 'insults', name: 'Insults', category: 'word', searchTerms: 'darn, heck' }
    dataOf(await world.post('/moderation/keywords', list))
    dataOf(await world.put('/moderation/keywords/insults', { searchTerms: 'heck, blast' }))
    const path = `/apps/${world.app.name}/moderation?tab=lists`
    const { page, problems } = await openAs(world, { role: 'support' }, path)
    await page.getByRole('button', { name: 'Insults', exact: true }).click()
    const first = `${world.app.name}_insults_1`
    await page.getByRole('button', { name: `Compare ${first} with now` }).click()
    const comparison = page.locator('section', { has: page.getByRole('heading', { name: `${first} and now` }) }).last()
    await comparison.getByText('Taken away since: 1').waitFor()
    await comparison.getByText('darn', { exact: true }).waitFor()
    await comparison.getByText('blast', { exact: true }).waitFor()
    expect(await findingsOf(page)).toEqual([])
    // A link shows the same to a colleague.
    expect(new URL(page.url()).searchParams.get('than')).toBe(first)
    await page.reload()
    await comparison.getByText('Added since: 1').waitFor()
    expect(problems).toEqual([])
  })

  it('changes of a list what was changed in the form, and leaves what others have added', async () => {
    const world = await createWorld()
    const list = { id: 'insults', name: 'Insults', description: 'Of Jim', category: 'word', searchTerms: 'darn, heck' }
    dataOf(await world.post('/moderation/keywords', list))
    const now = async () => dataOf(await world.get('/moderation/keywords/insults'))
    const path = `/apps/${world.app.name}/moderation?tab=lists`
    const { page, problems } = await openAs(world, { role: 'moderator' }, path)
    const dialog = page.getByRole('dialog')
    const edit = page.getByRole('row', { name: /word/ }).getByRole('button', { name: 'Edit' })
    await edit.first().click()
    await dialog.getByLabel('Name').fill('Rude words')
    await dialog.getByLabel('Description').fill('')
    dataOf(await world.put('/moderation/keywords/insults', { searchTerms: 'darn, heck, blast' }))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { name, description = '', searchTerms } = await now()
    expect({ name, description, searchTerms }).toEqual({
      ...{ name: 'Rude words', description: '', searchTerms: ['darn', 'heck', 'blast'] },
    })

    await edit.first().click()
    await dialog.getByLabel(/^Words, patterns/).fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').getByText('has no terms').waitFor()
    await dialog.getByLabel(/^Words, patterns/).fill('^bl')
    await dialog.getByRole('combobox', { name: 'What it holds' }).click()
    await page.getByRole('option', { name: 'pattern' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await now()).toMatchObject({ category: 'pattern', searchTerms: ['^bl'] })
    expect(problems).toEqual([])
  })

  it('sets up engines, without ever showing their keys, and removes them', async () => {
    const world = await createWorld()
    const path = `/apps/${world.app.name}/moderation?tab=engines`
    const { page, problems } = await openAs(world, { role: 'developer' }, path)
    await page.getByText('not set up').first().waitFor()
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Set up' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill('not an address')
    await dialog.getByLabel('Model').fill('small')
    await dialog.getByLabel('API key').first().fill('sk-very-secret')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').waitFor()
    expect(await findingsOf(page)).toEqual([])
    await dialog.getByLabel('Address').fill('https://llm.example.com/v1')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('https://llm.example.com/v1').waitFor()
    await page.getByText('set', { exact: true }).waitFor()
    const llm = async () => dataOf(await world.get('/moderation/engines')).llm
    expect(await llm()).toMatchObject({ model: 'small', hasApiKey: true, onError: 'approve-message' })

    // The key stays where none is typed.
    await page.getByRole('button', { name: 'Change' }).first().click()
    await dialog.getByLabel('Model').fill('large')
    await dialog.getByLabel(/Messages of the conversation/).fill('3')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('large').waitFor()
    expect(await llm()).toMatchObject({ model: 'large', hasApiKey: true, contextMessages: 3 })
    expect(await page.getByText('sk-very-secret').count()).toBe(0)
    await page.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('https://llm.example.com/v1').waitFor({ state: 'detached' })
    expect(await llm()).not.toHaveProperty('url')

    // Addresses and keys are no matter of moderators.
    const moderator = await openAs(world, { role: 'moderator' }, path)
    await moderator.page.getByText('You may not see this').waitFor()
    expect([...problems, ...moderator.problems]).toEqual([])
  })
})
