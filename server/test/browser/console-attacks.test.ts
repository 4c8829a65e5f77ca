import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createOwner, meOf, newEmail, password, Visitor } from '../admin/operator.ts'
import { ask } from '../http/watched.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { describeConsole, newContext, openAs, openConsole, openSignedIn, tabIn } from './console.ts'

/** Texts that would run a script if any page took them for markup or for an address. */
const hostile = [
  '<img src=x onerror="globalThis.hit=1">',
  '<script>globalThis.hit=1</script>',
  '"><svg onload=globalThis.hit=1>',
  "'-globalThis.hit=1-'",
  'javascript:globalThis.hit=1',
  '{{constructor.constructor("globalThis.hit=1")()}}',
  '</title><script>globalThis.hit=1</script>',
  '<style>@import "//evil.example"</style>',
]

describeConsole('attacks on the console, in a real browser', () => {
  it('by names, metadata and tags: all of it is shown as text', async () => {
    const world = await createWorld()
    for (const [n, text] of hostile.entries()) {
      const link = 'https://example.com/?q=<script>globalThis.hit=1</script>'
      const profile = { name: text, link, metadata: { [text]: text }, tags: [text], statusMessage: text }
      dataOf(await world.post('/users', { uid: `u${n}`, ...profile }))
      dataOf(
        await world.post('/groups', { guid: `g${n}`, name: text, type: 'public', owner: `u${n}`, description: text }),
      )
    }
    const base = `/apps/${world.app.name}`
    const { page, problems, open } = await openAs(world, { role: 'developer' }, `${base}/users`)
    for (const text of hostile) await page.getByRole('link', { name: text, exact: true }).waitFor()
    for (const n of hostile.keys()) {
      await open(`${base}/users/u${n}`)
      await page.getByRole('heading', { name: hostile[n]!, exact: true }).waitFor()
      await open(`${base}/groups/g${n}?tab=profile`)
      await page.getByRole('heading', { name: hostile[n]!, exact: true }).waitFor()
    }
    await open(`${base}/users?q=${encodeURIComponent(hostile[0]!)}`)
    await page.getByRole('link', { name: hostile[0]!, exact: true }).waitFor()
    expect(await page.evaluate(() => (globalThis as { hit?: number }).hit)).toBeUndefined()
    expect(problems).toEqual([])
  })

  it('by what people write and the names of their files: all of it is shown as text, and no link runs anything', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const ids: string[] = []
    for (const text of hostile) {
      const attachments = [
        {
          url: `https://files.example.com/${encodeURIComponent(text)}`,
          name: text,
          mimeType: text,
          extension: 'png',
          size: 1,
        },
      ]
      const metadata = { [text]: text }
      const sent = { receiver: 'bob', receiverType: 'user', category: 'message' }
      const { id } = dataOf(
        await world.post(
          '/messages',
          { ...sent, type: 'file', data: { text, attachments, metadata } },
          { as: 'alice' },
        ),
      )
      dataOf(await world.post(`/messages/${id}/flagged`, { remark: text }, { as: 'bob' }))
      const customData = { [text]: text }
      dataOf(
        await world.post(
          '/messages',
          { ...sent, category: 'custom', type: 'x', data: { customData } },
          { as: 'alice' },
        ),
      )
      ids.push(id)
    }
    const base = `/apps/${world.app.name}`
    const { page, problems, open } = await openAs(world, { role: 'moderator' }, `${base}/moderation`)
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/Your reason/)
      .fill(hostile[0]!)
    await page.getByRole('dialog').getByRole('button', { name: 'Read' }).click()
    for (const [n, id] of ids.entries()) {
      await open(`${base}/moderation?at=${id}`)
      await page.locator('article').getByText(hostile[n]!, { exact: true }).first().waitFor()
    }
    await open(`${base}/conversations/alice_user_bob`)
    for (const text of hostile) await page.getByRole('link', { name: text, exact: true }).first().waitFor()
    for (const button of await page.getByRole('button', { name: 'Metadata' }).all()) await button.click()
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main a[href]')].map((one) => one.protocol)`,
    )
    expect(new Set(links)).toEqual(new Set(['http:', 'https:']))
    await open(`${base}/messages?tab=search&q=globalThis`)
    await page.locator('article').first().waitFor()
    expect(await page.evaluate(() => (globalThis as { hit?: number }).hit)).toBeUndefined()
    expect(problems).toEqual([])
  })

  it('by a page of another origin: it changes nothing, sees nothing and shows no frame of it', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    dataOf(await world.post('/users', { uid: 'vera', name: 'Vera' }))
    const { page } = await openSignedIn(world, owner, '/apps')
    await page.getByRole('button', { name: /your account/ }).waitFor()

    const users = `${world.url}/admin/v1/apps/${world.app.name}/users`
    const attack = `<iframe src="${world.url}/console/apps" title="frame"></iframe>
      <form id="form" method="post" action="${users}" enctype="text/plain" target="sink"><input name='{"uid":"x","name":"x","a":"' value='"}'></form>
      <iframe name="sink" title="sink"></iframe>`
    const evil = createServer((_, response) => response.setHeader('content-type', 'text/html').end(attack))
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    // Another port of the same machine: even there, where cookies are sent along.
    const address = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/`
    const other = await page.context().newPage()
    await other.goto(address)
    await other.evaluate('document.getElementById("form").submit()')
    const outcomes = await other.evaluate(
      ([users]) =>
        Promise.all(
          ['cors', 'no-cors'].flatMap((mode) =>
            ['text/plain', 'application/json', 'application/x-www-form-urlencoded'].map((type) =>
              fetch(users as string, {
                method: 'POST',
                mode: mode as 'cors',
                credentials: 'include',
                headers: { 'content-type': type },
                body: '{"uid":"x","name":"x"}',
              }).then(
                (answer) => answer.type,
                () => 'failed',
              ),
            ),
          ),
        ),
      [users],
    )
    expect(outcomes.filter((type) => type !== 'failed' && type !== 'opaque')).toEqual([])
    const read = await other.evaluate(
      ([users]) =>
        fetch(users as string, { credentials: 'include' }).then(
          () => 'read',
          () => 'failed',
        ),
      [users],
    )
    expect(read).toBe('failed')
    expect((await world.get('/users/x')).status).toBe(404)
    await until(async () => other.frames().length === 3)
    for (const frame of other.frames().slice(1)) {
      expect(await frame.locator('#root').count()).toBe(0)
    }
    evil.close()
    await other.close()
  })

  it('by a session that was chosen beforehand: signing in gives a new one', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const { email } = await meOf(owner)
    const context = await newContext()
    const chosen = 'A'.repeat(43)
    await context.addCookies([{ name: 'parley-console', value: chosen, url: world.url }])
    const { page } = await tabIn(context, world, '')
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').first().fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: /your account/ }).waitFor()
    const [cookie] = await context.cookies()
    expect(cookie?.value).not.toBe(chosen)
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await page.evaluate('[...Object.keys(localStorage), ...Object.keys(sessionStorage)]')).toEqual([])
    const thief = new Visitor(world.url)
    thief.cookie = `parley-console=${chosen}`
    expect(refusal(await thief.get('/session'))).toBe('401 ERR_NO_AUTH')
  })

  it('by guessing: whoever guesses waits, and says nothing of who there is', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const { email } = await meOf(owner)
    const guess = async (address: string) => {
      const answers: string[] = []
      for (let n = 0; n < 12; n++) {
        answers.push(refusal(await new Visitor(world.url).post('/session', { email: address, password: `guess ${n}` })))
      }
      return answers
    }
    const known = await guess(email)
    expect(known).toContain('429 ERR_TOO_MANY_REQUESTS')
    // Whoever is slow has waited meanwhile, and may guess again: so not one by one.
    expect(new Set(known)).toEqual(new Set(await guess(newEmail())))
  })

  it('by what its answers allow: no script but its own, no frame, nothing kept', async () => {
    const world = await createWorld()
    const { headers } = await ask(`${world.url}/console/apps`)
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*/)
    expect(headers).toMatchObject({
      ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
    })
    expect(headers['access-control-allow-origin']).toBeUndefined()
    const again = await ask(`${world.url}/console/apps`)
    expect(again.headers['content-security-policy']).not.toBe(policy)
    // What it does not have is not taken from elsewhere.
    for (const path of [
      '/console/assets/none.js',
      '/console/assets/..%2findex.html',
      '/console/assets/%2e%2e/index.html',
    ]) {
      expect((await ask(world.url + path)).status, path).toBe(404)
    }
    const { page } = await openConsole(world)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const ran = await page.evaluate(`
      const script = document.createElement('script')
      script.textContent = 'globalThis.hit = 1'
      document.body.append(script)
      globalThis.hit`)
    expect(ran).toBeUndefined()
  })
})
