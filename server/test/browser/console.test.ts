import { expect, it } from 'vitest'
import { createOperator, createOwner, meOf, newEmail } from '../admin/operator.ts'
import { dataOf } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import {
  describeConsole,
  newContext,
  openAs,
  openConsole,
  openSignedIn,
  ownerLink,
  password,
  putBack,
  tabIn,
} from './console.ts'

describeConsole('the console, in a real browser', () => {
  it('is shown in a browser that does not stop what an earlier test has stopped', async () => {
    const context = await newContext()
    await context.route('**/*', () => undefined)
    await putBack(context)
    expect(await newContext()).toBe(context)
    const { page, problems } = await tabIn(context, await createWorld(), '')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(problems).toEqual([])
  })

  it('makes an owner at the one-time address, who signs out and in again', async () => {
    const world = await createWorld()
    const email = newEmail()
    const { page, problems } = await openConsole(world, await ownerLink(world))
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Your name').fill('Olga')
    await page.getByLabel('Password').first().fill(password)
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByRole('button', { name: /your account/ }).waitFor()
    expect(page.url()).not.toContain('#')

    await page.getByRole('button', { name: /your account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').first().fill('not it, not at all')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Password').first().fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: /your account/ }).waitFor()
    expect(problems).toEqual([])
  })

  it('finds, creates, changes and deactivates users', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    expect(owner.cookie).toBeDefined()
    for (let n = 0; n < 130; n++) {
      dataOf(await world.post('/users', { uid: `user-${n}`, name: `User ${String(n).padStart(3, '0')}` }))
    }
    const { page, problems } = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/users`)
    await page.getByText('of 130').waitFor()
    // Letter by letter: each changes the address, and the field stays the one that is typed into.
    await page.getByLabel('Search by name or user ID').click()
    await page.keyboard.type('user-77')
    await page.getByText('1 of 1').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('user-77')
    // Who follows the link to the page that they are on sees everybody, and a field that says so.
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByText('of 130').waitFor()
    expect(await page.getByLabel('Search by name or user ID').inputValue()).toBe('')
    await page.getByLabel('Search by name or user ID').fill('user-77')
    await page.getByText('1 of 1').waitFor()
    await page.getByRole('link', { name: 'User 077' }).click()
    await page.getByRole('heading', { name: 'User 077' }).waitFor()
    expect(await findingsOf(page)).toEqual([])
    // A developer changes users; whoever decides about them is a moderator.
    expect(await page.getByRole('button', { name: 'Deactivate' }).count()).toBe(0)

    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('<img src=x onerror=alert(1)>')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: '<img src=x onerror=alert(1)>' }).waitFor()
    expect(dataOf(await world.get('/users/user-77')).name).toBe('<img src=x onerror=alert(1)>')
    expect(problems).toEqual([])
  })

  it('leaves what somebody else changed while a form was open', async () => {
    const world = await createWorld()
    dataOf(await world.post('/users', { uid: 'alice', name: 'Alice', metadata: { plan: 'pro' } }))
    const { page } = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/users/alice`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByLabel('Status message').fill('away')
    dataOf(await world.put('/users/alice', { name: 'Alicia' }))
    // The page below the form is read again once somebody comes back to it, some seconds later.
    await until(
      async () => {
        await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
        return page.getByRole('heading', { name: 'Alicia', includeHidden: true }).first().isVisible()
      },
      { interval: 1000 },
    )
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(dataOf(await world.get('/users/alice'))).toMatchObject({ name: 'Alicia', statusMessage: 'away' })

    // What cannot be left empty is not said to be saved.
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByLabel('Metadata').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByRole('alert').getByText('Metadata').waitFor()
    await page.getByRole('dialog').getByLabel('Metadata').fill('{}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(dataOf(await world.get('/users/alice')).metadata).toEqual({})
  })

  it('asks once for more of a list where that is refused, and again when it is told to', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { page, problems, open } = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/groups`)
    let asked = 0
    let isRefused = true
    await page.route(/\/users\?/, async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      asked++
      const number = json.meta.pagination.current_page
      json.meta.pagination = { ...json.meta.pagination, total: 4, total_pages: 2 }
      if (number === 1) return route.fulfill({ response, json })
      if (isRefused) return route.fulfill({ status: 403, json: { error: { code: 'ERR_FORBIDDEN', message: 'no' } } })
      const data = ['carol', 'dan'].map((uid) => ({ uid, name: uid, status: 'offline', role: 'default' }))
      return route.fulfill({ response, json: { ...json, data } })
    })
    await open(`/apps/${world.app.name}/users`)
    await page.getByRole('alert').getByText('no', { exact: true }).waitFor()
    expect(asked).toBe(2)
    isRefused = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'dan' }).waitFor()
    expect(asked).toBe(3)
    expect(problems).toEqual([])
  })

  it('reads again what it has of a list, also where more of it is refused', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { page, open } = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/groups`)
    await page.route(/\/users\?/, async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      if (json.meta.pagination.current_page > 1)
        return route.fulfill({ status: 403, json: { error: { code: 'ERR_FORBIDDEN', message: 'no' } } })
      json.meta.pagination = { ...json.meta.pagination, total: 4, total_pages: 2 }
      return route.fulfill({ response, json })
    })
    await open(`/apps/${world.app.name}/users`)
    await page.getByRole('alert').getByText('no', { exact: true }).waitFor()
    dataOf(await world.put('/users/alice', { name: 'Alicia' }))
    // It is read again once somebody comes back to it, some seconds later.
    await until(
      async () => {
        await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
        return page.getByRole('link', { name: 'Alicia' }).isVisible()
      },
      { interval: 1000 },
    )
    await page.getByRole('alert').getByText('no', { exact: true }).waitFor()
  })

  it('shows and does only what a role may', async () => {
    const world = await createWorld()
    dataOf(await world.post('/users', { uid: 'ulla', name: 'Ulla' }))
    const path = `/apps/${world.app.name}/users/ulla`
    const support = await openAs(world, { role: 'support' }, path)
    await support.page.getByRole('heading', { name: 'Ulla' }).waitFor()
    for (const name of ['Edit', 'Erase', 'Deactivate']) {
      expect(await support.page.getByRole('button', { name }).count()).toBe(0)
    }
    expect(await support.page.getByRole('link', { name: 'API keys' }).count()).toBe(0)
    await support.open(`/apps/${world.app.name}/keys`)
    await support.page.getByText('You may not see this').waitFor()

    const moderator = await openAs(world, { role: 'moderator' }, path)
    await moderator.page.getByRole('button', { name: 'Deactivate' }).click()
    await moderator.page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await moderator.page.getByRole('button', { name: 'Reactivate' }).waitFor()
    await until(async () => dataOf(await world.get('/users/ulla')).deactivatedAt !== undefined)
    expect([...support.problems, ...moderator.problems]).toEqual([])
  })

  it('changes of an operator what was changed in the form, and leaves the rest', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const email = newEmail()
    const { id } = await meOf(await createOperator(owner, { role: 'developer', apps: [world.app.name] }, email))
    // So it is also once the only app of somebody was removed.
    dataOf(await owner.put(`/operators/${id}`, { apps: [] }))
    const grants = async () => {
      const { role, apps, mayRead } = dataOf(await owner.get('/operators')).find((one: { id: string }) => one.id === id)
      return { role, apps, mayRead }
    }
    const { page, problems } = await openSignedIn(world, owner, `/operators?q=${email}`)
    const row = page.getByRole('row', { name: email })
    const dialog = page.getByRole('dialog')
    const openForm = () => row.getByRole('button', { name: 'Change' }).click()
    const save = async () => {
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await openForm()
    await dialog.getByRole('switch', { name: 'May read what people wrote' }).click()
    await save()
    expect(await grants()).toEqual({ role: 'developer', apps: [], mayRead: false })
    await row.getByRole('cell', { name: 'none', exact: true }).waitFor()

    // All apps are a choice of its own: what is not chosen gives none of them.
    await openForm()
    await dialog.getByRole('combobox', { name: 'Apps', exact: true }).click()
    await page.getByRole('option', { name: 'All, those to come included' }).click()
    expect(await findingsOf(page)).toEqual([])
    await save()
    await row.getByRole('cell', { name: 'all', exact: true }).waitFor()
    expect(await grants()).toEqual({ role: 'developer', apps: null, mayRead: false })
    await openForm()
    await dialog.getByRole('combobox', { name: 'Apps', exact: true }).click()
    await page.getByRole('option', { name: 'Only some' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').getByText('choose at least one').waitFor()
    await dialog.getByRole('combobox', { name: 'Which apps' }).fill(world.app.name)
    await page.getByRole('option', { name: world.app.name }).click()
    // The list of apps closes.
    await page.keyboard.press('Tab')
    await save()
    await row.getByRole('cell', { name: world.app.name, exact: true }).waitFor()
    expect(await grants()).toEqual({ role: 'developer', apps: [world.app.name], mayRead: false })
    expect(problems).toEqual([])
  })

  it('invites somebody to what the form shows, and asks before it takes away what nothing brings back', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const { page, problems } = await openSignedIn(world, owner, '/operators')
    const dialog = page.getByRole('dialog')
    const invited = async (email: string) =>
      dataOf(await owner.get('/invitations')).find((one: { email: string }) => one.email === email)
    for (const [choice, mayRead] of [
      ['No', false],
      ['As the role has it', true],
    ] as const) {
      const email = newEmail()
      await page.getByRole('button', { name: 'Invite somebody' }).click()
      await dialog.getByLabel('E-mail address').fill(email)
      // Nothing in the form says that they may not, where they may.
      expect(await dialog.getByRole('switch').count()).toBe(0)
      await dialog.getByRole('combobox', { name: 'May read what people wrote' }).click()
      await page.getByRole('option', { name: choice }).click()
      await dialog.getByRole('button', { name: 'Invite' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(await invited(email)).toMatchObject({ role: 'moderator', apps: null, mayRead })
    }

    const email = newEmail()
    const { id } = await meOf(await createOperator(owner, { role: 'support' }, email))
    const isDisabled = async () => {
      const { disabledAt } = dataOf(await owner.get('/operators')).find((one: { id: string }) => one.id === id)
      return disabledAt !== undefined
    }
    await page.goto(`${world.url}/console/operators?q=${email}`)
    const row = page.getByRole('row', { name: email })
    await row.getByRole('button', { name: 'Disable' }).click()
    await dialog.getByText('personal tokens').waitFor()
    expect(await isDisabled()).toBe(false)
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await row.getByText('disabled', { exact: true }).waitFor()
    expect(await isDisabled()).toBe(true)
    await row.getByRole('button', { name: 'Enable' }).click()
    await row.getByText('disabled', { exact: true }).waitFor({ state: 'detached' })
    expect(await isDisabled()).toBe(false)

    // Scripts fail without the token that they have: that is asked, too.
    const tokens = async () => dataOf(await owner.get('/tokens'))
    dataOf(await owner.post('/tokens', { name: 'nightly', rights: ['look'], days: 1 }))
    await page.goto(`${world.url}/console/account`)
    await page.getByRole('row', { name: 'nightly' }).getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText('nightly').waitFor()
    expect(await tokens()).toHaveLength(1)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('You have none.').waitFor()
    expect(await tokens()).toEqual([])
    expect(problems).toEqual([])
  })
})
