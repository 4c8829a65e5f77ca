import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { createServer, type ViteDevServer } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../gate/needs.ts'
import { createGroup, say, sayInGroup, texts } from '../support/chat.ts'
import { findFreePort } from '../support/ports.ts'
import { tokenOf } from '../support/socket.ts'
import { soon, until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { chromiumProgram, openContext } from './chromium.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))

describeWith(chromiumProgram, 'the page of docs/front-end.md', () => {
  let world: World
  const contexts: BrowserContext[] = []
  let folder: string
  let backEnd: ChildProcess
  let vite: ViteDevServer

  beforeAll(async () => {
    const [documentation, port] = await Promise.all([
      readFile(path.join(repository, 'docs/front-end.md'), 'utf8'),
      findFreePort(),
    ])
    world = await createWorld()
    const parent = path.join(repository, 'react/dist')
    await mkdir(parent, { recursive: true })
    folder = await mkdtemp(path.join(parent, 'page-'))
    await mkdir(path.join(folder, 'src'))
    const files = {
      'src/main.tsx': fileIn(documentation, 'src/main.tsx').replace(
        "url: 'http://127.0.0.1:8080'",
        `url: '${world.url}', appId: '${world.app.name}'`,
      ),
      'server.js': fileIn(documentation, 'server.js').replace(
        '{ url, apiKey }',
        `{ url, apiKey, appId: '${world.app.name}' }`,
      ),
      'vite.config.ts': fileIn(documentation, 'vite.config.ts').replace(':3000', `:${port}`),
      'other.html': '<div id="root"></div><script type="module" src="/src/other.tsx"></script>',
      'src/other.tsx': otherPage,
      'parts.html': '<div id="root"></div><script type="module" src="/src/parts.tsx"></script>',
      'src/parts.tsx': partsPage,
      // What the template brings along.
      'index.html': '<div id="root"></div><script type="module" src="/src/main.tsx"></script>',
      'package.json': '{ "type": "module" }',
      'tsconfig.json': '{ "compilerOptions": { "jsx": "react-jsx" } }',
    }
    await Promise.all(Object.entries(files).map(([name, code]) => writeFile(path.join(folder, name), code)))

    backEnd = startBackEnd(port, world.url)
    vite = await createServer({
      root: folder,
      logLevel: 'error',
      // The packages are read from their sources, as everywhere in the tests.
      resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
      server: { host: '127.0.0.1', port: await findFreePort() },
    })
    await vite.listen()
    await until(async () => (await fetch(`http://127.0.0.1:${port}`).catch(() => undefined)) !== undefined)
  })
  const startBackEnd = (port: number, url: string, errors: 'inherit' | 'pipe' = 'inherit'): ChildProcess =>
    spawn(process.execPath, ['server.js'], {
      cwd: folder,
      stdio: ['inherit', 'inherit', errors],
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        PARLEY_URL: url,
        PARLEY_API_KEY: world.apiKey,
        PORT: String(port),
      },
    })
  afterAll(async () => {
    backEnd?.kill()
    await Promise.all([...contexts.map((context) => context.close()), vite?.close()])
    if (folder !== undefined) await rm(folder, { recursive: true })
  })

  const openAs = async (uid: string, prepare = async (_page: Page) => {}): Promise<Page> => {
    const { port } = vite.config.server
    const url = `http://127.0.0.1:${port}/`
    const context = await openContext()
    contexts.push(context)
    await context.addCookies([{ name: 'user', value: uid, url }])
    const page = await context.newPage()
    await prepare(page)
    await page.goto(url)
    return page
  }

  /** A page that is drawn again when its button is pressed, and then for the next of these users. */
  const openOther = async (peer: string, ...uids: string[]): Promise<Page> => {
    const tokens = await Promise.all(uids.map((uid) => tokenOf(world, uid)))
    return openGiven('other.html', { tokens, peer })
  }
  /** A page with a part of the kit, which is for the next of these users, or of these threads, when its button is pressed. */
  const openPart = async (
    part: 'Chat' | 'ConversationView' | 'ThreadView',
    uid: string,
    given: object,
    prepare?: (page: Page) => Promise<void>,
  ) => openGiven('parts.html', { part, authToken: await tokenOf(world, uid), ...given }, prepare)
  const openGiven = async (file: string, given: object, prepare = async (_page: Page) => {}): Promise<Page> => {
    const hash = encodeURIComponent(JSON.stringify({ url: world.url, appId: world.app.name, ...given }))
    const context = await openContext()
    contexts.push(context)
    const page = await context.newPage()
    await prepare(page)
    await page.goto(`http://127.0.0.1:${vite.config.server.port}/${file}#${hash}`)
    return page
  }

  it('stays with whom its user has chosen when what is around it is drawn again', async () => {
    await createUsers(world, 'ann', 'ben', 'cas')
    const page = await openOther('ben', 'ann')
    await page.getByRole('heading', { name: 'Ben' }).waitFor()
    await page.getByRole('button', { name: 'New chat' }).click()
    await page.getByRole('button', { name: 'Cas', exact: true }).click()
    await page.getByRole('heading', { name: 'Cas' }).waitFor()
    await page.getByRole('button', { name: 'Drawn 0' }).click()
    await page.getByRole('button', { name: 'Drawn 1' }).waitFor()
    expect(await page.locator('main h2').innerText()).toBe('Cas')
  })

  it('says that nobody is logged in, and not that it loads; and fits into the window', async () => {
    const page = await openAs('nobody', async (opened) => opened.context().clearCookies())
    await page.getByText('You are logged out.').waitFor()
    expect(await page.locator('body').innerText()).not.toContain('Loading')
    const scrolls = await page.evaluate('document.documentElement.scrollHeight > window.innerHeight')
    expect(scrolls).toBe(false)
  })

  it('shows what another user sees, and sends as them, when it is given their client', async () => {
    await createUsers(world, 'dan', 'eve', 'fay')
    await say(world, 'fay', 'dan', 'for Dan')
    await say(world, 'fay', 'eve', 'for Eve')
    const page = await openOther('fay', 'dan', 'eve')
    await page.locator('main article', { hasText: 'for Dan' }).waitFor()
    await page.locator('main textarea').fill('what Dan has not sent')
    await page.getByRole('button', { name: 'Drawn 0' }).click()
    await page.locator('main article', { hasText: 'for Eve' }).waitFor()
    await page.locator('main article', { hasText: 'for Dan' }).waitFor({ state: 'detached' })
    expect(await page.locator('main textarea').inputValue()).toBe('')
    await page.locator('main textarea').fill('from Eve')
    await page.locator('main textarea').press('Enter')
    await soon(async () => {
      expect(texts(await world.get('/users/eve/messages', { as: 'fay' }))).toEqual(['for Eve', 'from Eve'])
    })
  })

  it('keeps what is written to one out of the conversation with another, and out of other threads', async () => {
    await createUsers(world, 'hal', 'ida', 'jon')
    const page = await openPart('ConversationView', 'hal', { peers: ['ida', 'jon'] })
    await page.getByLabel('Write to Ida').fill('for Ida')
    await page.getByRole('button', { name: 'Next' }).click()
    expect(await page.getByLabel('Write to Jon').inputValue()).toBe('')

    const ids = [await say(world, 'ida', 'hal', 'one'), await say(world, 'ida', 'hal', 'two')].map(({ id }) => id)
    const threads = await openPart('ThreadView', 'hal', { peers: ['ida'], ids })
    await threads.getByText('one').waitFor()
    await threads.locator('textarea').fill('about one')
    await threads.getByRole('button', { name: 'Next' }).click()
    await threads.getByText('two').waitFor()
    expect(await threads.locator('textarea').inputValue()).toBe('')
  })

  it('shows nothing of the conversation before beside another one that it is led to', async () => {
    await createUsers(world, 'kim', 'lea', 'max')
    await say(world, 'lea', 'kim', 'hello')
    const page = await openPart('Chat', 'kim', { peers: ['lea', 'max'] })
    await page.locator('main article', { hasText: 'hello' }).hover()
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Reply in thread' }).click()
    const thread = page.getByRole('region', { name: 'Thread' })
    await thread.waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('heading', { name: 'Max' }).waitFor()
    await thread.waitFor({ state: 'detached' })
  })

  it('sends nothing by the Enter that ends the input of a word, also where a browser says so by its code alone', async () => {
    await createUsers(world, 'ned', 'oda')
    const page = await openPart('ConversationView', 'ned', { peers: ['oda'] })
    const composer = page.getByLabel('Write to Oda')
    await composer.fill('火锅')
    await composer.dispatchEvent('keydown', { key: 'Enter', keyCode: 229 })
    await composer.pressSequentially('!')
    await composer.press('Enter')
    await soon(async () => expect(texts(await world.get('/users/oda/messages', { as: 'ned' }))).toEqual(['火锅!']))
  })

  it('shows in the list of conversations who comes and goes', async () => {
    await createUsers(world, 'pia', 'quy')
    await say(world, 'quy', 'pia', 'hello')
    const page = await openPart('Chat', 'pia', { peers: [] })
    const [row, online] = ['.parley-conversation', '.parley-conversation [data-online]']
    await page.locator(row).waitFor()
    expect(await page.locator(online).count()).toBe(0)
    const other = await openPart('Chat', 'quy', { peers: [] })
    await page.locator(online).waitFor()
    await other.close()
    await page.locator(online).waitFor({ state: 'detached' })
  })

  it('says that more members of a group could not be loaded, and loads them when it is told to again', async () => {
    await createUsers(world, 'ray', 'sam')
    await createGroup(world, 'choir', 'ray', { participants: ['sam'] })
    await sayInGroup(world, 'sam', 'choir', 'la la')
    const page = await openPart('Chat', 'ray', { peers: [] })
    const problems: string[] = []
    page.on('pageerror', ({ message }) => problems.push(message))
    let isRefused = false
    let total = 150
    await page.route('**/groups/choir/members?*', async (route) => {
      if (isRefused) return route.fulfill({ status: 500, json: {} })
      const response = await route.fetch()
      const json = await response.json()
      json.meta.pagination.total = total
      return route.fulfill({ response, json })
    })
    await page.getByRole('button', { name: /^choir/i }).click()
    await page.getByRole('button', { name: 'Members' }).click()
    const panel = page.getByRole('region', { name: 'Members' })
    const more = panel.getByRole('button', { name: 'Load more' })
    await more.waitFor()
    isRefused = true
    await more.click()
    await panel.getByText('This could not be loaded.').waitFor()
    isRefused = false
    total = 2
    await more.click()
    await more.waitFor({ state: 'detached' })
    expect(await panel.innerText()).not.toContain('could not')
    expect(problems).toEqual([])
  })

  it('gives what was said today its date once the day is over', async () => {
    await createUsers(world, 'tea', 'uma')
    await say(world, 'uma', 'tea', 'good night')
    const page = await openPart('Chat', 'tea', { peers: ['uma'] }, (opened) => opened.clock.install())
    const today = page.locator('.parley-day', { hasText: 'Today' })
    await today.waitFor()
    await page.clock.fastForward('24:00:00')
    await today.waitFor({ state: 'detached' })
    expect(await page.locator('.parley-day').count()).toBe(1)
  })

  it('has a back end that lives on while the service is away, and says so', async () => {
    const [port, nobodys] = await Promise.all([findFreePort(), findFreePort()])
    const lonely = startBackEnd(port, `http://127.0.0.1:${nobodys}`, 'pipe')
    let said = ''
    lonely.stderr?.on('data', (chunk) => {
      said += chunk
    })
    try {
      const ask = () => fetch(`http://127.0.0.1:${port}/chat-token`, { headers: { cookie: 'user=alice' } })
      await until(async () => (await fetch(`http://127.0.0.1:${port}`).catch(() => undefined)) !== undefined)
      for (let times = 0; times < 2; times++) expect((await ask()).status).toBe(503)
      await until(() => said.includes('Error'))
    } finally {
      lonely.kill()
    }
  })

  it('asks again for a token where it could not get one, for any reason but that nobody is logged in', async () => {
    let asked = 0
    const page = await openAs('gus', async (page) => {
      await page.route('**/chat-token', (route) => (asked++ === 0 ? route.fulfill({ status: 404 }) : route.continue()))
    })
    await page.getByText('No conversations yet').waitFor()
  })

  it('is a chat, once the back end has made a token for whoever is logged in', async () => {
    const alice = await openAs('alice')
    await alice.getByText('No conversations yet').waitFor()
    const bob = await openAs('bob')
    await bob.getByRole('button', { name: 'New chat' }).click()
    await bob.getByRole('button', { name: 'alice', exact: true }).click()
    await bob.getByLabel('Write to alice').fill('Hello from a page of ours')
    await bob.getByLabel('Write to alice').press('Enter')
    await alice.getByRole('button', { name: /^bob.*Hello from a page of ours/s }).click()
    await alice.locator('article', { hasText: 'Hello from a page of ours' }).waitFor()
    await soon(async () => {
      const [message] = (await world.get('/users/alice/messages', { as: 'bob' })).body.data
      expect(message).toMatchObject({ sender: 'bob', readAt: expect.any(Number) })
    })
  })
})

const otherPage = `
import { createLiveClient } from '@parley/client'
import { Chat, ParleyProvider } from '@parley/react'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

const { url, appId, tokens, peer } = JSON.parse(decodeURIComponent(location.hash.slice(1)))
const clients = tokens.map((authToken) => createLiveClient({ url, appId, authToken }))

function Page() {
  const [drawn, setDrawn] = useState(0)
  return (
    <ParleyProvider client={clients[Math.min(drawn, clients.length - 1)]}>
      <button onClick={() => setDrawn(drawn + 1)}>Drawn {drawn}</button>
      <Chat initialPeer={{ uid: peer }} />
    </ParleyProvider>
  )
}

createRoot(document.getElementById('root')).render(<Page />)
`

const partsPage = `
import { createLiveClient } from '@parley/client'
import { Chat, ConversationView, ParleyProvider, ThreadView } from '@parley/react'
import '@parley/react/styles.css'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

const { part, url, appId, authToken, peers, ids = [] } = JSON.parse(decodeURIComponent(location.hash.slice(1)))
const client = createLiveClient({ url, appId, authToken })
const nothing = () => {}

function Part({ at }) {
  const uid = peers[Math.min(at, peers.length - 1)]
  const peer = uid && { uid }
  if (part === 'Chat') return <Chat initialPeer={peer} />
  if (part === 'ConversationView') return <ConversationView peer={peer} onShow={nothing} />
  return <ThreadView peer={peer} parentId={ids[at]} onClose={nothing} />
}

function Page() {
  const [at, setAt] = useState(0)
  return (
    <ParleyProvider client={client}>
      <button onClick={() => setAt(at + 1)}>Next</button>
      <Part at={at} />
    </ParleyProvider>
  )
}

createRoot(document.getElementById('root')).render(<Page />)
`

/** The code of a file that the documentation names. */
function fileIn(documentation: string, name: string): string {
  const [, after = ''] = documentation.split(`\n\`${name}\``)
  const code = /^[^\n]*\n\n```\w+\n(.*?)^```$/ms.exec(after)?.[1]
  if (code === undefined) throw new Error(`docs/front-end.md has no ${name}`)
  return code
}
