import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Parley } from '../../src/app.ts'
import { createOperator, createOwner, newEmail, Visitor } from '../admin/operator.ts'
import { newPerson, type Person, TestProvider } from '../admin/provider.ts'
import { dataOf } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { createWorld, type World } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { describeConsole, openConsole, openSignedIn, password } from './console.ts'

describeConsole('signing in to the console by OpenID Connect, in a real browser', () => {
  let provider: TestProvider
  let parley: Parley
  let world: World
  let owner: Visitor

  beforeAll(async () => {
    provider = await new TestProvider().start()
    const service = await startService(provider.environment)
    parley = service.parley
    world = await createWorld(service)
    owner = await createOwner(world)
  })
  afterAll(async () => {
    await parley?.close()
    await provider?.stop()
  })
  beforeEach(() => provider.beHonest())

  const signInWith = () => `Sign in with ${new URL(provider.issuer).host}`

  /** Signs in on the page of the provider, which is of another site. */
  async function goBack(page: Page, person: Person) {
    provider.person = person
    await page.waitForURL(`${provider.issuer}/authorize**`)
    await page.getByRole('link', { name: 'Continue' }).click()
  }

  /** What is wrong in the tab, but that it went to the provider. */
  const flawsOf = (problems: readonly string[]) =>
    problems.filter((problem) => !problem.startsWith(`asks ${provider.issuer}`))

  it('leads whoever was invited to the provider, and back to the page that they opened', async () => {
    const person = newPerson()
    dataOf(await owner.post('/invitations', { email: person.email, role: 'support', apps: [world.app.name] }))
    const path = `/apps/${world.app.name}/users?q=paul`
    const { page, problems } = await openConsole(world, path)
    const button = page.getByRole('button', { name: signInWith() })
    await button.waitFor()
    expect(await findingsOf(page)).toEqual([])
    await button.click()
    await goBack(page, person)
    await page.getByRole('button', { name: /your account/ }).waitFor()
    expect(page.url()).toBe(`${world.url}/console${path}`)
    const cookies = await page.context().cookies(world.url)
    expect(cookies).toMatchObject([{ name: 'parley-console', httpOnly: true, sameSite: 'Strict' }])
    // As somebody of support: keys are not theirs to see.
    await page.getByRole('link', { name: 'Users' }).waitFor()
    expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0)

    await page.goto(`${world.url}/console/account`)
    await page.getByText('Your password and second factor are there').waitFor()
    expect(await page.getByRole('heading', { name: 'Password' }).count()).toBe(0)
    expect(await findingsOf(page)).toEqual([])
    expect(flawsOf(problems)).toEqual([])
  })

  it('says why somebody does not come in, and lets them begin again', async () => {
    const { page, problems } = await openConsole(world)
    await page.getByRole('button', { name: signInWith() }).click()
    await goBack(page, newPerson())
    await page.getByRole('alert').getByText('There is no invitation for you').waitFor()
    expect(page.url()).toBe(`${world.url}/console/`)
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('button', { name: signInWith() }).waitFor()

    await page.goto(`${world.url}/console/sign-in?error=access_denied&error_description=%3Cb%3E&state=x`)
    await page.getByRole('alert').getByText('The provider did not sign you in: access denied.').waitFor()
    await page.goto(`${world.url}/console/sign-in?error=Call%20me%20at%20555&state=x`)
    await page.getByRole('alert').getByText('The provider did not sign you in.', { exact: true }).waitFor()
    expect(flawsOf(problems)).toEqual([])
  })

  it('signs nobody in by an address that somebody else was led back to', async () => {
    const person = newPerson()
    dataOf(await owner.post('/invitations', { email: person.email, role: 'support' }))
    const attacker = new Visitor(world.url)
    const back = await provider.lead(attacker, person)
    const { page } = await openConsole(world, `/sign-in?${new URLSearchParams(back)}`)
    await page.getByRole('alert').getByText('was begun in another browser').waitFor()
    expect(await page.context().cookies(world.url)).toEqual([])
    dataOf(await attacker.post('/session/provider', back))
  })

  it('says so where the provider is away', async () => {
    const { page } = await openConsole(world)
    const button = page.getByRole('button', { name: signInWith() })
    await button.click()
    provider.instead = (path, response) => {
      if (path === '/token') response.writeHead(500).end()
      return path === '/token'
    }
    await goBack(page, newPerson())
    await page.getByRole('alert').getByText('did not answer as it should').waitFor()
  })

  it('is linked with an account by whoever is signed in to it, and unlinked', async () => {
    const operator = await createOperator(owner, { role: 'moderator', apps: [world.app.name] })
    const { page, problems } = await openSignedIn(world, operator, '/account')
    const link = page.getByRole('button', { name: /^Link with/ })
    await link.waitFor()
    expect(await findingsOf(page)).toEqual([])
    const section = page.locator('section', { has: page.getByRole('heading', { name: 'OpenID Connect' }) })
    await section.getByLabel('Your password').fill('wrong, wrong, wrong')
    await link.click()
    await section.getByRole('alert').waitFor()
    await section.getByLabel('Your password').fill(password)
    await link.click()
    await goBack(page, newPerson(newEmail()))
    await page.getByRole('button', { name: 'Unlink it' }).waitFor()
    expect(page.url()).toBe(`${world.url}/console/account`)
    await section.getByLabel('Your password').fill(password)
    await page.getByRole('button', { name: 'Unlink it' }).click()
    await link.waitFor()
    expect(flawsOf(problems)).toEqual([])
  })

  it('is not offered where no provider is set up', async () => {
    const { page, problems } = await openConsole(await createWorld())
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.getByRole('button', { name: /with/ }).count()).toBe(0)
    expect(problems).toEqual([])
  })
})
