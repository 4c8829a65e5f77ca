import { statSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { describeWith } from '../gate/needs.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { soon, until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { breakMessage } from './broken.ts'
import { chromiumProgram, openContext, pictureFile } from './chromium.ts'
import { openDemo } from './demo.ts'

describeWith(chromiumProgram, 'the demo page, in two tabs of a real browser', () => {
  const contexts: BrowserContext[] = []

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
  })

  /** A tab of its own session. */
  const openPage = async (): Promise<Page> => {
    const context = await openContext()
    contexts.push(context)
    return context.newPage()
  }

  /** A tab of its own session, logged in. What goes wrong in it is in `problems`. */
  const openTab = async (world: World, me: string, peer: string): Promise<Page & { problems: string[] }> => {
    const page = await openPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (said) => {
      // What the service refuses is an answer, such as that a user is there already.
      if (said.type() === 'error' && !said.text().startsWith('Failed to load resource')) problems.push(said.text())
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(world.url)) problems.push(`asks ${request.url()}`)
    })
    await openDemo(page, world, me, peer)
    return Object.assign(page, { problems })
  }

  it('chats live: what one writes the other sees, typing, presence and receipts too', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    const bob = await openTab(world, 'bob', 'alice')
    await alice.locator('.parley-status', { hasText: 'online' }).waitFor()

    await composer(alice).fill('Shall we meet at six?')
    await bob.getByText('alice is typing').waitFor()
    await alice.getByRole('button', { name: 'Send' }).click()
    await message(bob, 'Shall we meet at six?').waitFor()
    await message(alice, 'Shall we meet at six?').getByTitle('read').waitFor()

    await composer(bob).fill('Half past. <b>Bring</b> the others 火锅!')
    await composer(bob).press('Enter')
    await message(alice, 'Half past. <b>Bring</b> the others 火锅!').waitFor()
    expect(await alice.locator('article[data-message-id]').count()).toBe(2)

    const stored = await world.get('/users/bob/messages', { as: 'alice' })
    expect(stored.body.data.map((one: { data: { text: string } }) => one.data.text)).toEqual([
      'Shall we meet at six?',
      'Half past. <b>Bring</b> the others 火锅!',
    ])
    const picture = pictureFile('alice.png')
    await alice.screenshot({ path: picture })
    expect(statSync(picture).size).toBeGreaterThan(1000)

    await bob.close()
    await alice.locator('.parley-status', { hasText: 'offline' }).waitFor()
    expect([...alice.problems, ...bob.problems]).toEqual([])
  })

  it('reacts, quotes, edits, deletes, and answers in threads', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    const bob = await openTab(world, 'bob', 'alice')
    await write(alice, 'the first one')
    await act(message(bob, 'the first one'), 'React 👍')
    await message(alice, 'the first one').getByRole('button', { name: '👍 1' }).waitFor()
    await message(bob, 'the first one').getByRole('button', { name: '👍 1' }).click()
    await expectGone(message(alice, 'the first one').getByRole('button', { name: '👍 1' }))

    await act(message(bob, 'the first one'), 'Quote')
    await composer(bob).press('Escape')
    await expectGone(bob.getByText('Quoting alice'))
    await act(message(bob, 'the first one'), 'Quote')
    await write(bob, 'about that')
    await message(alice, 'about that').locator('blockquote', { hasText: 'the first one' }).waitFor()

    await act(message(bob, 'about that'), 'Edit')
    await soon(async () => expect(await composer(bob).inputValue()).toBe('about that'))
    await write(bob, 'about this')
    await message(alice, 'about this').getByText('edited').waitFor()

    await act(message(alice, 'about this'), 'Reply in thread')
    await alice.getByLabel('Reply in thread').fill('beside')
    await alice.getByLabel('Reply in thread').press('Enter')
    await message(bob, 'about this').getByRole('button', { name: '1 reply' }).click()
    await bob.getByRole('region', { name: 'Thread' }).getByText('beside').waitFor()
    await soon(async () => {
      const { data } = (await world.get('/users/alice/conversation', { as: 'bob' })).body
      expect(data.unreadMessageCount).toBe('0')
    })

    await act(message(alice, 'the first one'), 'Delete')
    await bob.getByText('This message was deleted').first().waitFor()
    expect([...alice.problems, ...bob.problems]).toEqual([])
  })

  it('shows all others beside a message that cannot be drawn', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'bob', 'alice', 'a good one')
    await say(world, 'bob', 'alice', 'a broken one')
    const page = await openPage()
    await breakMessage(page, 'a broken one')
    await openDemo(page, world, 'alice', 'bob')
    await message(page, 'a good one').waitFor()
    await page.getByText('This message cannot be shown').waitFor()
    await composer(page).fill('What was that?')
    await page.getByRole('button', { name: 'Send' }).click()
    await message(page, 'What was that?').waitFor()
  })

  it('writes a new message with nothing of one that is edited no more', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    await write(alice, 'as it was')
    await act(message(alice, 'as it was'), 'Edit')
    await soon(async () => expect(await composer(alice).inputValue()).toBe('as it was'))
    await composer(alice).press('Escape')
    await expectGone(alice.getByText('Editing a message'))
    await soon(async () => expect(await composer(alice).inputValue()).toBe(''))

    await act(message(alice, 'as it was'), 'Edit')
    await soon(async () => expect(await composer(alice).inputValue()).toBe('as it was'))
    await act(message(alice, 'as it was'), 'Quote')
    await alice.getByText('Quoting alice').waitFor()
    await soon(async () => expect(await composer(alice).inputValue()).toBe(''))
    expect(alice.problems).toEqual([])
  })

  it('keeps an edit that is refused, says why, and gives back the draft and the file of before', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    await write(alice, 'mine')
    await composer(alice).fill('a long draft')
    await alice
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') })
    await alice.getByText('a.txt').waitFor()
    await act(message(alice, 'mine'), 'Edit')
    await soon(async () => expect(await composer(alice).inputValue()).toBe('mine'))
    await expectGone(alice.getByText('a.txt'))

    const isEdit = (url: URL) => url.pathname.startsWith('/v3/messages/')
    const refusal = { error: { code: 'ERR_MESSAGE_ACTION_NOT_ALLOWED', message: 'No such words, please.' } }
    await alice.route(isEdit, (route) =>
      route.request().method() === 'PUT' ? route.fulfill({ status: 400, json: refusal }) : route.continue(),
    )
    await composer(alice).fill('mine, and more')
    await composer(alice).press('Enter')
    await alice.getByRole('alert').filter({ hasText: 'No such words' }).waitFor()
    expect(await composer(alice).inputValue()).toBe('mine, and more')

    await alice.unroute(isEdit)
    await composer(alice).press('Enter')
    await message(alice, 'mine, and more').waitFor()
    await soon(async () => expect(await composer(alice).inputValue()).toBe('a long draft'))
    await alice.getByText('a.txt').waitFor()
    expect(await alice.getByRole('alert').count()).toBe(0)
  })

  it('tells whoever is removed from a group that they are', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    await createGroup(world, 'hikers', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'hikers', 'up the hill')
    const bob = await openTab(world, 'bob', 'alice')
    await bob.getByRole('button', { name: /^hikers/i }).click()
    await message(bob, 'up the hill').waitFor()
    dataOf(await world.delete('/groups/hikers/members/bob', { as: 'alice' }))
    await expectGone(message(bob, 'up the hill'))
    await soon(async () => expect(await bob.locator('main').innerText()).toContain('You are no longer in this group.'))
    expect([...alice.problems, ...bob.problems]).toEqual([])
  })

  it('says to screen readers of each message that one has come', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    await alice.evaluate(`{
      window.said = []
      const region = document.querySelector('.parley-hidden[role=status]')
      new MutationObserver(() => said.push(region.innerText)).observe(region, { childList: true, characterData: true, subtree: true })
    }`)
    for (const times of [1, 2]) {
      await say(world, 'bob', 'alice', `for the ${times}. time`)
      await soon(async () => expect(await alice.evaluate('said')).toEqual(Array(times).fill('1 new message')))
    }
    expect(alice.problems).toEqual([])
  })

  it('asks once for more conversations where that is refused, and again when it is told to', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    await write(alice, 'hello')
    await alice.getByRole('button', { name: /^bob.*hello/s }).waitFor()
    // The first page says that there are more. The next one is refused.
    let asked = 0
    let isRefused = true
    await alice.route('**/conversations?*', async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      if (asked++ === 0) json.meta.pagination.total = 1_000
      else if (isRefused)
        return route.fulfill({ status: 403, json: { error: { code: 'ERR_FORBIDDEN', message: 'no' } } })
      return route.fulfill({ response, json })
    })
    await alice.reload()
    await alice.click('#log-in')
    await alice.getByText('This could not be loaded.').waitFor()
    expect(asked).toBe(2)
    isRefused = false
    await alice.getByRole('button', { name: 'Try again' }).click()
    await expectGone(alice.getByText('This could not be loaded.'))
    await alice.getByRole('button', { name: /^bob.*hello/s }).waitFor()
    expect(asked).toBe(3)
    expect(alice.problems).toEqual([])
  })

  it('asks once for older messages that are refused, and again when it is told to by the keyboard', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await sayMany(world, 40)
    const alice = await openPage()
    let asked = 0
    let isRefused = true
    await alice.route(/\/messages\?.*\bid=/, (route) => {
      asked++
      return isRefused
        ? route.fulfill({ status: 403, json: { error: { code: 'ERR_FORBIDDEN', message: 'no' } } })
        : route.continue()
    })
    await openDemo(alice, world, 'alice', 'bob')
    const problem = alice.locator('main').getByText('This could not be loaded.')
    await problem.waitFor()
    await alice.getByRole('feed').hover()
    for (let n = 0; n < 10; n++) await alice.mouse.wheel(0, n % 2 === 0 ? -400 : 300)
    // The page has looked at each of these, and drawn what comes of it.
    await alice.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    expect(asked).toBe(1)
    isRefused = false
    await alice.getByRole('feed').focus()
    await until(async () => {
      await alice.keyboard.press('Tab')
      return (await focusedText(alice)) === 'Try again'
    })
    await alice.keyboard.press('Enter')
    await expectGone(problem)
    await soon(async () => expect(await alice.evaluate('document.activeElement.getAttribute("role")')).toBe('feed'))
    await alice.mouse.wheel(0, -5000)
    await message(alice, 'said 0').first().waitFor()
  })

  it('sends files with what is said about them', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    const bob = await openTab(world, 'bob', 'alice')
    const file = pictureFile('plan.txt')
    writeFileSync(file, 'up the hill')
    await alice.setInputFiles('main input[type=file]', [file])
    await alice.getByRole('button', { name: 'Remove plan.txt' }).click()
    await alice.setInputFiles('main input[type=file]', [file])
    await write(alice, 'see there')
    const link = message(bob, 'see there').getByRole('link', { name: 'plan.txt' })
    const answer = await fetch((await link.getAttribute('href')) ?? '')
    expect(await answer.text()).toBe('up the hill')
    expect([...alice.problems, ...bob.problems]).toEqual([])
  })

  it('makes groups, mentions their members, and finds what was said', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', '')
    const bob = await openTab(world, 'bob', '')
    await alice.getByRole('button', { name: 'New chat' }).click()
    await alice.getByLabel('New group: bob').check()
    await alice.getByLabel('Name of the group').fill('Hikers')
    await alice.getByRole('button', { name: 'Create' }).click()
    await alice.getByRole('heading', { name: 'Hikers' }).waitFor()
    await composer(alice).pressSequentially('come along @b')
    await alice.getByRole('option', { name: 'bob' }).waitFor()
    await composer(alice).press('Enter')
    await composer(alice).press('Enter')

    await bob.getByRole('button', { name: /^Hikers/ }).click()
    await message(bob, 'come along @bob').waitFor()
    await bob.getByRole('button', { name: 'Members' }).click()
    await bob.getByRole('listitem').filter({ hasText: 'alice' }).getByText('admin').waitFor()

    await bob.getByRole('button', { name: 'Search', exact: true }).click()
    await bob.getByPlaceholder('Search messages').fill('along')
    await bob
      .locator('.parley-found')
      .getByRole('button', { name: /come along/ })
      .click()
    await message(bob, 'come along').waitFor()
    expect([...alice.problems, ...bob.problems]).toEqual([])
  })

  it('offers whom to mention as soon as that is asked for', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    await composer(alice).fill('Ask @')
    await alice.getByRole('option', { name: 'bob' }).waitFor()
    expect(alice.problems).toEqual([])
  })

  it('makes a group once, however often it is told to, and closes what is open by Escape', async () => {
    const world = await createWorld()
    await createUsers(world, 'bob')
    const alice = await openTab(world, 'alice', '')
    const opener = alice.getByRole('button', { name: 'New chat' })
    await opener.click()
    await alice.getByRole('heading', { name: 'New chat' }).waitFor()
    await alice.getByLabel('New group: bob').press('Escape')
    await expectGone(alice.getByRole('heading', { name: 'New chat' }))
    expect(await opener.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true)

    await opener.click()
    let asked = 0
    // The first is done, but its answer is lost.
    await alice.route(
      (url) => url.pathname === '/v3/groups',
      async (route) => {
        const isFirst = route.request().method() === 'POST' && ++asked === 1
        if (isFirst) await route.fetch()
        // Long enough to be told again meanwhile.
        else await delay(300)
        await (isFirst ? route.abort() : route.continue())
      },
    )
    await alice.getByLabel('New group: bob').check()
    const name = alice.getByLabel('Name of the group')
    await name.fill('Twice')
    await name.press('Enter')
    await alice.getByRole('alert').waitFor()
    await alice.keyboard.press('Enter')
    await alice.keyboard.press('Enter')
    await alice.getByRole('heading', { name: 'Twice' }).waitFor()
    const groups = dataOf(await world.get('/groups?searchKey=Twice')) as unknown[]
    expect(groups).toHaveLength(1)
  })

  it('keeps its place while older messages come, and is at the newest again by the End key', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    await sayMany(world, 300)
    const list = alice.getByRole('feed')
    const atNewest = () =>
      soon(async () => expect(await list.locator('article').last().innerText()).toMatch(/said 29\d/))
    await atNewest()
    await alice.reload()
    await alice.click('#log-in')
    await list.locator('article').last().waitFor()
    await list.hover()
    /** What comes before the first row on screen pushes it on. */
    const position = async () => Number(await list.locator('article').first().getAttribute('aria-posinset'))
    /** The first row in sight, in one look: rows come and go. */
    const seen = () =>
      list.evaluate((feed) => {
        const { top } = feed.getBoundingClientRect()
        const row = [...feed.querySelectorAll<HTMLElement>('article[data-message-id]')].find(
          (each) => each.getBoundingClientRect().y > top,
        )
        return row && { id: row.dataset.messageId, y: Math.round(row.getBoundingClientRect().y - top) }
      })

    // The next older page is held back until what is on screen stands still.
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let held = 0
    await alice.route('**/messages?*', async (route) => {
      held++
      await released
      await route.continue()
    })
    await until(async () => {
      await alice.mouse.wheel(0, -200)
      return held > 0
    })
    await soon(async () => expect(await seen()).toEqual(await seen()))
    const [place, before] = [await seen(), await position()]
    release()
    await soon(async () => expect(await position()).toBeGreaterThan(before))
    await soon(async () => expect(await seen()).toEqual(place))

    for (let n = 0; n < 40; n++) await alice.mouse.wheel(0, -800)
    await soon(async () => expect(await list.getByText('said 0', { exact: true }).count()).toBe(1))
    await list.press('End')
    await atNewest()
    expect(alice.problems).toEqual([])
  })

  it('brings a message that is chosen among what was found into view, each time', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const first = await say(world, 'bob', 'alice', 'the first of all')
    await sayMany(world, 120)
    const reply = { receiver: 'alice', receiverType: 'user', data: { text: 'beside the first' } }
    dataOf(await world.post(`/messages/${first.id}/thread`, reply, { as: 'bob' }))
    const alice = await openTab(world, 'alice', 'bob')
    const list = alice.locator('main').getByRole('feed')
    const choose = async (text: string) => {
      await alice.getByRole('button', { name: 'Search messages' }).click()
      await alice.getByPlaceholder('Search messages').fill(text)
      await alice.locator('.parley-found').getByRole('button', { name: text }).click()
    }
    /** The row that holds a text is in sight, and the keyboard is there. */
    const expectSeen = async (text: string) => {
      const isInSight = `(() => {
        const rows = [...document.querySelectorAll('[role=feed] article')]
        const row = rows.find((each) => each.innerText.includes(${JSON.stringify(text)}))
        if (row === undefined) return false
        const [seen, feed] = [row, row.closest('[role=feed]')].map((each) => each.getBoundingClientRect())
        return seen.top >= feed.top && seen.bottom <= feed.bottom
      })()`
      await soon(async () => expect(await alice.evaluate(isInSight)).toBe(true))
      await soon(async () => expect(await focusedText(alice)).toContain(text))
    }
    for (let times = 0; times < 2; times++) {
      await choose('the first of all')
      await expectSeen('the first of all')
    }
    await list.press('End')
    await soon(async () => expect(await list.locator('article').last().innerText()).toMatch(/said 11\d/))
    await choose('the first of all')
    await expectSeen('the first of all')
    // One of the last, which is loaded and on screen already.
    await list.press('End')
    await soon(async () => expect(await list.locator('article').last().innerText()).toMatch(/said 11\d/))
    const last = (await list.locator('article .parley-text').last().innerText()).trim()
    await choose(last)
    await expectSeen(last)
    await say(world, 'bob', 'alice', 'and one more')
    await message(alice, 'and one more').waitFor()

    await choose('beside the first')
    await alice.getByRole('region', { name: 'Thread' }).getByText('beside the first').waitFor()
    await expectSeen('beside the first')
    expect(alice.problems).toEqual([])
  })

  it('shows all messages of a burst, and leaves whoever reads further up where they are', async () => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    for (let n = 0; n < 10; n++) {
      await Promise.all(Array.from({ length: 40 }, (_, i) => say(world, 'bob', 'alice', `burst ${n} ${i}`)))
    }
    await soon(async () => {
      expect(await alice.locator('main article').last().getAttribute('aria-posinset')).toBe('400')
    })
    const toNewest = alice.getByRole('button', { name: 'To the newest message' })
    expect(await toNewest.count()).toBe(0)

    const list = alice.getByRole('feed')
    await list.hover()
    await alice.mouse.wheel(0, -600)
    await toNewest.waitFor()
    const place = () => alice.evaluate("document.querySelector('main .parley-scroller').scrollTop")
    const height = () => alice.evaluate<number>("document.querySelector('main .parley-scroller').scrollHeight")
    await soon(async () => expect(await place()).toBe(await place()))
    const [before, heightBefore] = [await place(), await height()]
    for (let n = 0; n < 5; n++) {
      await Promise.all(Array.from({ length: 40 }, (_, i) => say(world, 'bob', 'alice', `below ${n} ${i}`)))
    }
    await soon(async () => expect(await height()).toBeGreaterThan(heightBefore + 2000))
    expect(await place()).toBe(before)
    await list.press('End')
    await soon(async () => {
      expect(await alice.locator('main article').last().getAttribute('aria-posinset')).toBe('600')
    })
    await toNewest.waitFor({ state: 'detached' })

    // A row that has the focus may go, and the keyboard stays in the list.
    await list.press('ArrowUp')
    await soon(async () => expect(await focusedText(alice)).toContain('below'))
    for (let n = 0; n < 5; n++) {
      await Promise.all(Array.from({ length: 40 }, (_, i) => say(world, 'bob', 'alice', `again ${n} ${i}`)))
    }
    await soon(async () => {
      expect(await alice.locator('main article').last().getAttribute('aria-posinset')).toBe('800')
    })
    expect(await alice.evaluate('document.activeElement.closest("[role=feed]") !== null')).toBe(true)
    expect(await alice.locator('main article').count()).toBeLessThanOrEqual(150)
    expect(alice.problems).toEqual([])
  })

  it.each([
    ['light', 'ltr'],
    ['dark', 'rtl'],
  ] as const)('is usable by keyboard and screen reader: %s, %s', async (colorScheme, dir) => {
    const world = await createWorld()
    const alice = await openTab(world, 'alice', 'bob')
    await alice.emulateMedia({ colorScheme })
    await alice.evaluate(`document.documentElement.dir = '${dir}'`)
    const { id } = await say(world, 'bob', 'alice', 'hello')
    await say(world, 'alice', 'bob', 'hello yourself')
    dataOf(await world.post(`/messages/${id}/reactions/%F0%9F%91%8D`, {}, { as: 'bob' }))
    await message(alice, 'hello yourself').waitFor()
    await message(alice, 'hello').first().getByRole('button', { name: '👍 1' }).waitFor()
    expect(await findingsOf(alice)).toEqual([])

    await alice.getByRole('feed').focus()
    await alice.keyboard.press('ArrowUp')
    await soon(async () => expect(await focusedText(alice)).toContain('hello yourself'))
    await alice.keyboard.press('ArrowUp')
    await soon(async () => expect(await focusedText(alice)).toContain('bob'))
    await act(message(alice, 'hello yourself'), undefined)
    expect(await findingsOf(alice)).toEqual([])
    await alice.keyboard.press('Escape')
    await expectGone(alice.getByRole('menu'))
    await alice.screenshot({ path: pictureFile(`${colorScheme}-${dir}.png`) })

    await alice.getByRole('button', { name: 'New chat' }).click()
    await alice.getByRole('button', { name: 'bob', exact: true }).waitFor()
    expect(await findingsOf(alice)).toEqual([])
    expect(alice.problems).toEqual([])
  })

  it('says what is wrong when the key is not right', async () => {
    const world = await createWorld()
    const page = await openPage()
    await page.goto(`${world.url}/demo#key=${'0'.repeat(40)}&app-id=${world.app.name}`)
    await page.click('#log-in')
    await page.locator('#problem', { hasText: /./ }).waitFor()
    expect(await page.locator('.parley').count()).toBe(0)
  })
})

/** Messages of Bob to Alice, ten at a time. */
async function sayMany(world: World, count: number): Promise<void> {
  for (let n = 0; n < count; n += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => say(world, 'bob', 'alice', `said ${n + i}`)))
  }
}

function composer(page: Page): Locator {
  return page.locator('main textarea')
}

async function write(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** A message of the conversation that is open. */
function message(page: Page, text: string): Locator {
  return page.locator('main article[data-message-id]', { has: page.locator('.parley-text, em', { hasText: text }) })
}

/** Opens the menu of a message, and chooses from it. */
async function act(on: Locator, does: string | undefined): Promise<void> {
  await on.hover()
  await on.getByRole('button', { name: 'Actions' }).click()
  const menu = on.page().getByRole('menu')
  await menu.waitFor()
  if (does !== undefined) await menu.getByRole('menuitem', { name: does, exact: true }).click()
}

async function expectGone(what: Locator): Promise<void> {
  await what.waitFor({ state: 'detached' })
}

function focusedText(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.innerText')
}
