import { statSync } from 'node:fs'
import type { Browser, BrowserContext, CDPSession, Page, Worker } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWebPushEmulator, type WebPushEmulator } from '../../src/emulators/web-push.ts'
import { describeWith } from '../gate/needs.ts'
import { dataOf, say, sayInGroup } from '../support/chat.ts'
import { soon, until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { launchNotifying, notifyingChromium, patient, pictureFile } from './chromium.ts'
import { openDemo } from './demo.ts'

/**
 * The browser reaches no push service here: what it gets as a subscription is one of the emulator, and what comes there is
 * handed to its service worker as a push service would. All else is the real thing.
 */
describeWith(notifyingChromium, 'the demo page, notified in a real browser', () => {
  let browser: Browser
  let emulator: WebPushEmulator
  let world: World

  beforeAll(async () => {
    ;[browser, emulator, world] = await Promise.all([launchNotifying(), startWebPushEmulator(), createWorld()])
    await createUsers(world, 'alice', 'bob', 'carol')
  })
  afterAll(async () => {
    await Promise.all([browser?.close(), emulator?.close()])
  })

  interface Tab {
    readonly context: BrowserContext
    readonly page: Page
    readonly worker: Worker
    /** Hands what came for this browser to its service worker, as soon as it has come. @returns the payload */
    receive(): Promise<Record<string, string>>
    /** Hands something to its service worker. */
    deliver(payload: object): Promise<void>
    /** What the browser shows now, as `title: body`. */
    shown(): Promise<string[]>
    /** Somebody looks at the page, or at something else. */
    look(isVisible: boolean): Promise<void>
  }

  let count = 0

  /** A browser of its own in which somebody logs in and asks to be notified. */
  async function openTab(me: string, peer: string): Promise<Tab> {
    const name = `${me}-${++count}`
    const context = patient(await browser.newContext())
    await context.exposeFunction('subscribeElsewhere', (key: string) => emulator.subscribe(key, name))
    await context.addInitScript({ content: boundaries })
    const page = await context.newPage()
    await openDemo(page, world, me, peer)
    expect(page.url()).toBe(`${world.url}/demo#me=${me}&peer=${peer}`)
    await context.grantPermissions(['notifications'], { origin: world.url })
    const cdp = await context.newCDPSession(page)
    const registration = registrationOf(cdp)
    await page.getByRole('button', { name: 'Notify me' }).click()
    await page.getByText('You are notified').waitFor()
    const [worker = await context.waitForEvent('serviceworker')] = context.serviceWorkers()
    await worker.evaluate(countPushes)
    let received = 0
    const handled = (): Promise<number> => worker.evaluate(handledPushes)
    const deliver = async (payload: object) => {
      const { origin } = new URL(world.url)
      const data = JSON.stringify(payload)
      const before = await handled()
      await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registration, data })
      // Whoever asks what is shown while something is being shown makes the browser forget it.
      await until(async () => (await handled()) > before)
    }
    return {
      ...{ context, page, worker, deliver },
      async receive() {
        const came = () => emulator.pushes.filter((push) => push.name === name)
        await soon(() => expect(came().length).toBeGreaterThan(received))
        const push = came()[received++]
        expect(push?.status).toBe(201)
        await deliver(push?.payload)
        return push?.payload
      },
      shown: () => worker.evaluate(shownTexts),
      look: (isVisible) => page.evaluate(`look(${isVisible})`),
    }
  }

  async function registrationOf(cdp: CDPSession): Promise<string> {
    const found = new Promise<string>((resolve) => {
      cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const ours = registrations.find(({ scopeURL, isDeleted }) => scopeURL === `${world.url}/demo` && !isDeleted)
        if (ours !== undefined) resolve(ours.registrationId)
      })
    })
    await cdp.send('ServiceWorker.enable')
    return found
  }

  it('shows what comes while nobody looks, and an edit in its place', async () => {
    const bob = await openTab('bob', 'alice')
    await bob.look(false)
    const { id } = await say(world, 'alice', 'bob', 'Shall we meet at six? 火锅!')
    expect(await bob.receive()).toMatchObject({ title: 'Alice', tag: id, unreadMessageCount: '1' })
    await soon(async () => expect(await bob.shown()).toEqual(['Alice: Shall we meet at six? 火锅!']))
    // It has come to the page too, but nobody has read it.
    await bob.page.locator(`article[data-message-id="${id}"]`, { hasText: 'at six' }).waitFor()
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'Shall we meet at seven?' } }, { as: 'alice' }))
    await bob.receive()
    await soon(async () => expect(await bob.shown()).toEqual(['Alice: Shall we meet at seven?']))
    await bob.look(true)
    await soon(async () => {
      const message = dataOf(await world.get(`/messages/${id}`))
      expect(message.readAt).toBeGreaterThan(0)
    })
    await bob.context.close()
  })

  it('shows nothing to those who look at the conversation', async () => {
    const bob = await openTab('bob', 'alice')
    const made = { body: 'hello', receiver: 'bob', sentAt: '1700000000000' }
    await bob.deliver({ ...made, title: 'Alice', sender: 'alice', tag: '1' })
    await bob.deliver({ ...made, title: 'Carol', sender: 'carol', tag: '2' })
    await soon(async () => expect(await bob.shown()).toEqual(['Carol: hello']))
    await bob.look(false)
    await bob.deliver({ ...made, title: 'Alice', sender: 'alice', tag: '1' })
    await soon(async () => expect((await bob.shown()).sort()).toEqual(['Alice: hello', 'Carol: hello']))
    await bob.context.close()
  })

  it('leads to the conversation when it is clicked: in the page that is open, else in a new one', async () => {
    const bob = await openTab('bob', 'carol')
    await bob.look(false)
    const called = `over here ${Date.now()}`
    await say(world, 'alice', 'bob', called)
    await bob.receive()
    await until(async () => (await bob.shown()).length === 1)
    const picture = pictureFile('notified.png')
    await bob.page.screenshot({ path: picture })
    expect(statSync(picture).size).toBeGreaterThan(1000)

    expect(await bob.worker.evaluate(clickFirst)).toEqual(['focus'])
    await bob.page.getByRole('heading', { name: 'Alice' }).waitFor()
    await bob.page.locator('article', { hasText: called }).waitFor()
    expect(await bob.shown()).toEqual([])

    await say(world, 'carol', 'bob', 'and here')
    await bob.receive()
    await until(async () => (await bob.shown()).length === 1)
    await bob.page.goto(`${world.url}/demo/main.css`)
    expect(await bob.worker.evaluate(clickFirst)).toEqual(['/demo#me=bob&peer=carol'])
    await bob.context.close()
  })

  it('leads to the group in which something was said, also where a user is named like it', async () => {
    dataOf(await world.post('/groups', { guid: 'carol', name: 'Carol’s walks', type: 'public', owner: 'alice' }))
    dataOf(await world.post('/groups/carol/members', { participants: ['bob'] }))
    const bob = await openTab('bob', 'alice')
    await bob.look(false)
    await sayInGroup(world, 'alice', 'carol', 'to the lake')
    expect(await bob.receive()).toMatchObject({ receiver: 'carol', receiverType: 'group' })
    await until(async () => (await bob.shown()).length === 1)
    expect(await bob.worker.evaluate(clickFirst)).toEqual(['focus'])
    await bob.page.getByRole('heading', { name: 'Carol’s walks' }).waitFor()
    await bob.page.locator('article', { hasText: 'to the lake' }).waitFor()
    expect(bob.page.url()).toBe(`${world.url}/demo#me=bob&group=carol`)

    // Who looks at the group is told nothing, else a page of its own leads there.
    const made = { title: 'Walks', body: 'or to the hill', sender: 'alice', receiver: 'carol', receiverType: 'group' }
    const payload = { ...made, tag: '7', sentAt: '1700000000000' }
    await bob.look(true)
    await bob.deliver(payload)
    expect(await bob.shown()).toEqual([])
    await bob.page.goto(`${world.url}/demo/main.css`)
    await bob.deliver(payload)
    await soon(async () => expect(await bob.shown()).toEqual(['Walks: or to the hill']))
    expect(await bob.worker.evaluate(clickFirst)).toEqual(['/demo#group=carol'])
    await bob.page.goto(`${world.url}/demo#key=${world.authKey}&app-id=${world.app.name}&me=bob&group=carol`)
    await bob.page.click('#log-in')
    await bob.page.getByRole('heading', { name: 'Carol’s walks' }).waitFor()
    await bob.context.close()
  })
})

/** In the page. Subscriptions are made elsewhere; a page without a window is told whether somebody looks at it. */
const boundaries = `
  let isLookedAt = true
  Object.defineProperty(Document.prototype, 'visibilityState', { get: () => (isLookedAt ? 'visible' : 'hidden') })
  globalThis.look = (now) => {
    isLookedAt = now
    document.dispatchEvent(new Event('visibilitychange'))
  }
  PushManager.prototype.subscribe = ({ applicationServerKey }) =>
    subscribeElsewhere(applicationServerKey).then((made) => ({ toJSON: () => made }))
`

/** In the service worker: counts the pushes that it has done with. */
const countPushes = `{
  globalThis.handled = 0
  const { waitUntil } = ExtendableEvent.prototype
  PushEvent.prototype.waitUntil = function (work) {
    waitUntil.call(this, work.finally(() => handled++))
  }
}`

/** In the service worker. */
const handledPushes = `handled`

/** In the service worker. */
const shownTexts = `registration.getNotifications().then((all) => all.map(({ title, body }) => title + ': ' + body))`

/** In the service worker: clicks what is shown. It may focus and open pages for a real click only, so here that is noted. */
const clickFirst = `(async () => {
  const calls = []
  WindowClient.prototype.focus = async () => calls.push('focus')
  clients.openWindow = async (url) => calls.push(url)
  const [notification] = await registration.getNotifications()
  const waited = []
  const event = new NotificationEvent('notificationclick', { notification })
  event.waitUntil = (work) => waited.push(work)
  dispatchEvent(event)
  await Promise.all(waited)
  return calls
})()`
