/// <reference lib="dom" />
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Message } from '@parley/client'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOperator, createOwner } from '../admin/operator.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { openContext } from './chromium.ts'
import { type ConsoleTab, describeConsole, openAs, signIn, tabIn } from './console.ts'

const linesOf = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
const cellsOf = ({ page }: ConsoleTab, kind: string) =>
  page
    .getByRole('row', { name: new RegExp(`^${kind}\\b`) })
    .first()
    .getByRole('cell')
    .allTextContents()

/** Drops a file or a folder of this machine, as from a window of its files: only the browser's own protocol can. */
async function dropOn(page: Page, place: Locator, what: string): Promise<void> {
  const { x, y, width, height } = (await place.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  const session = await page.context().newCDPSession(page)
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', {
      ...{ type, x: x + width / 2, y: y + height / 2 },
      data: { items: [], files: [what], dragOperationsMask: 1 },
    })
  }
  await session.detach()
}

describeConsole('imports in the console, in a real browser', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'parley-console-import-'))
  })
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
  })
  const put = async (name: string, text: string) => {
    const file = path.join(folder, name)
    await writeFile(file, text)
    return file
  }

  it('are tried before, by a dry run that stores nothing', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const tab = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/import`)
    const message = (muid: string, sender: string, receiver: string, more: object = {}) => ({
      ...{ muid, sender, receiver, receiverType: 'user', sentAt: 1_700_000_000 },
      ...{ category: 'message', type: 'text', data: { text: 'hi' }, ...more },
    })
    const files = [
      await put(
        'users.ndjson',
        linesOf([
          { uid: 'alice', name: 'Alice' },
          { uid: 'bob', name: 'Bob' },
          { uid: 'odd', name: 'Odd', avatar: 'x' },
        ]),
      ),
      await put(
        'messages.ndjson',
        linesOf([
          message('one', 'alice', 'bob'),
          message('two', 'bob', 'nobody'),
          message('three', 'bob', 'alice', { parentMuid: 'one' }),
          message('four', 'bob', 'alice', { parentMuid: 'no-such' }),
          message('one', 'alice', 'bob'),
        ]),
      ),
    ]
    const { page, problems } = tab
    await page.locator('input[type=file]').first().setInputFiles(files)
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByText('This is what an import would do. Nothing was stored.').waitFor()
    expect(await cellsOf(tab, 'users')).toEqual(['users', '3', '1', '1', '1'])
    expect(await cellsOf(tab, 'messages')).toEqual(['messages', '5', '2', '1', '2'])
    const refused = page.getByRole('table', { name: 'Refused records' })
    await refused.getByText('users/nobody').waitFor()
    await refused.getByText('ERR_MESSAGE_ID_NOT_FOUND').waitFor()
    expect(await findingsOf(page)).toEqual([])
    expect((await world.get('/users/bob')).status).toBe(404)

    // The import comes to the same.
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Done.').waitFor()
    expect(await cellsOf(tab, 'users')).toEqual(['users', '3', '1', '1', '1'])
    expect(await cellsOf(tab, 'messages')).toEqual(['messages', '5', '2', '1', '2'])
    expect(problems).toEqual([])
  })

  it('take what is in a folder that is chosen or dropped, and give what was refused as a file', async () => {
    const world = await createWorld()
    const tab = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/import`)
    const { page, problems } = tab
    const history = path.join(folder, 'history')
    await mkdir(path.join(history, 'spool'), { recursive: true })
    const broken = [
      { uid: 'ann', name: 'Ann' },
      { uid: 'odd', name: 'Odd', avatar: 'x' },
    ]
    await put('history/users.ndjson', `${linesOf(broken)}{"uid":\n`)
    await put('history/notes.txt', 'not for an import')
    // Below the folder of a move are others, whose files are not its own.
    await put('history/spool/groups.ndjson', linesOf([{ guid: 'g', name: 'G', type: 'public' }]))
    await put(
      'history/report.json',
      JSON.stringify({
        ...{ from: 'https://old.example.com', into: world.app.name, read: { users: 12 } },
        notices: [
          { code: 'NO_PASSWORD', outcome: 'changed', count: 3, what: 'Groups got a password', examples: ['g7'] },
        ],
      }),
    )
    await page.locator('input[type=file]').nth(1).setInputFiles(history)
    await page.getByText('users.ndjson', { exact: true }).waitFor()
    await page.getByRole('row', { name: /changed Groups got a password 3 g7/ }).waitFor()
    await page.getByRole('row', { name: 'users 12' }).waitFor()
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Done.').waitFor()
    expect(await cellsOf(tab, 'users')).toContain('3')
    const table = page.getByRole('table', { name: 'Refused records' })
    const cells = await table.getByRole('row').nth(1).getByRole('cell').allTextContents()
    expect(cells).toEqual(['users', '3', 'ERR_BAD_REQUEST', 'is not JSON'])
    const refusal = await table.getByRole('row').nth(2).getByRole('cell').allTextContents()
    expect(refusal.slice(0, 3)).toEqual(['users', '2', 'ERR_BAD_REQUEST'])
    expect(refusal[3]).toContain('avatar')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    const file = await downloading
    expect(file.suggestedFilename()).toBe('import-refused.ndjson')
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { kind: 'users', line: 3, record: '{"uid":', reason: 'is not JSON' },
      { kind: 'users', line: 2, record: broken[1] },
    ])

    // Dropped, it is the same.
    await dropOn(page, page.getByText('Choose files'), history)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await until(async () => (await cellsOf(tab, 'users')).join(' ') === 'users 3 0 1 2')
    expect((await world.get('/groups/g')).status).toBe(404)
    await dropOn(page, page.getByText('Choose files'), path.join(history, 'notes.txt'))
    await page.getByText('None of these files has a name that an import knows.').waitFor()
    expect(problems).toEqual([])
  })

  it('go on where they were with the same files, after the page was loaded again', async () => {
    const world = await createWorld()
    const address = `/apps/${world.app.name}/import`
    const tab = await openAs(world, { role: 'developer' }, address)
    const { page, problems, load } = tab
    const users = Array.from({ length: 1_700 }, (_, n) => ({ uid: `user-${n}`, name: `User ${n}` }))
    const file = await put('users.ndjson', linesOf(users))
    const sent: string[] = []
    let mayPass = 2
    await page.route('**/data_import/users', async (route) => {
      const [first] = JSON.parse(route.request().postData() ?? '{}').users
      if (mayPass-- <= 0) return
      sent.push(first.uid)
      await route.continue()
    })
    page.on('dialog', (dialog) => void dialog.accept())
    await page.locator('input[type=file]').first().setInputFiles(file)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await until(async () => (await cellsOf(tab, 'users')).join(' ') === 'users 1000 1000 0 0')
    await page.reload()
    await page.getByText('An import was interrupted.').waitFor()
    expect(await cellsOf(tab, 'users')).toEqual(['users', '1000', '1000', '0', '0'])
    expect(await findingsOf(page)).toEqual([])

    mayPass = 1
    await page.locator('input[type=file]').first().setInputFiles(file)
    await page.getByRole('button', { name: 'Go on' }).click()
    await until(async () => (await cellsOf(tab, 'users')).join(' ') === 'users 1500 1500 0 0')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped.', { exact: false }).waitFor()
    mayPass = 9
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByText('Done.').waitFor()
    expect(await cellsOf(tab, 'users')).toEqual(['users', '1700', '1700', '0', '0'])
    expect(sent).toEqual(['user-0', 'user-500', 'user-1000', 'user-1500'])
    // What is over is not offered again.
    await load(address)
    await page.getByRole('button', { name: 'Dry run' }).waitFor()
    expect(await page.getByText('An import was interrupted.').count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('stop where their page is left, and go on once from there', async () => {
    const world = await createWorld()
    const tab = await openAs(world, { role: 'developer' }, `/apps/${world.app.name}/import`)
    const { page, problems } = tab
    const users = Array.from({ length: 1_700 }, (_, n) => ({ uid: `user-${n}`, name: `User ${n}` }))
    const file = await put('users.ndjson', linesOf(users))
    const sent: string[] = []
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    await page.route('**/data_import/users', async (route) => {
      const [first] = JSON.parse(route.request().postData() ?? '{}').users
      sent.push(first.uid)
      if (sent.length === 2) await gate
      await route.continue().catch(() => {})
    })
    await page.locator('input[type=file]').first().setInputFiles(file)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await until(() => sent.length === 2)
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByRole('button', { name: 'Create a user' }).waitFor()
    open()
    await page.getByRole('link', { name: 'Import and export' }).click()
    await page.getByText('An import was interrupted.').waitFor()
    await page.waitForTimeout(500)
    expect(sent).toEqual(['user-0', 'user-500'])
    await page.locator('input[type=file]').first().setInputFiles(file)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByText('Done.').waitFor()
    expect((await cellsOf(tab, 'users')).slice(0, 2)).toEqual(['users', '1700'])
    expect(dataOf(await world.get('/users?perPage=1&searchKey=user-1699'))).toHaveLength(1)
    expect(problems).toEqual([])
  })
})

describeConsole('exports in the console, in a real browser', () => {
  it('are files from which an import makes the same', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] }, { tags: ['staff'] })
    dataOf(await world.delete('/users', { uidsToDeactivate: ['carol'] }))
    const first = await sayInGroup(world, 'alice', 'team', 'Shall we meet? 会いましょうか')
    dataOf(await world.post(`/messages/${first.id}/thread`, { data: { text: 'We shall' } }, { as: 'bob' }))
    dataOf(await world.post(`/messages/${first.id}/reactions/${encodeURIComponent('👍')}`, {}, { as: 'bob' }))
    await say(world, 'bob', 'alice', 'Only you read this')
    const developer = { role: 'developer' }
    const { page, problems } = await openAs(world, developer, `/apps/${world.app.name}/import?tab=export`)
    const dialog = page.getByRole('dialog')
    await page.getByRole('switch', { name: 'With messages' }).click()
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    expect(await findingsOf(page)).toEqual([])
    await dialog.getByLabel(/Your reason/).fill('They move out')
    await dialog.getByRole('button', { name: 'Export' }).click()
    await page.getByText('Done.', { exact: false }).first().waitFor()
    expect(await findingsOf(page)).toEqual([])
    const files: string[] = []
    for (const kind of ['users', 'groups', 'members', 'messages']) {
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: `Download ${kind}.ndjson.gz` }).click()
      const file = path.join(await mkdtemp(path.join(os.tmpdir(), 'parley-console-export-')), `${kind}.ndjson.gz`)
      await (await downloading).saveAs(file)
      files.push(file)
    }
    const read = dataOf(await world.get('/audit-log?action=conversation_read')).map(
      ({ target, details }: { target: { id: string }; details: object }) => [target.id, details],
    )
    expect(Object.fromEntries(read)).toEqual({
      alice_user_bob: { reason: 'They move out' },
      group_team: { reason: 'They move out' },
    })

    const other = await createWorld()
    const theirs = await openAs(other, developer, `/apps/${other.app.name}/import`)
    await theirs.page.locator('input[type=file]').first().setInputFiles(files)
    await theirs.page.getByRole('button', { name: 'Import', exact: true }).click()
    await theirs.page.getByText('Done.').waitFor()
    const refused = theirs.page.getByRole('table', { name: 'Refused records' }).getByRole('row')
    expect(await refused.allTextContents()).toEqual([])
    const shown = async ({ get }: World) => {
      const users = dataOf(await get('/users?withDeactivated=true&withTags=true'))
      const group = dataOf(await get('/groups/team'))
      const members = dataOf(await get('/groups/team/members'))
      const messages = dataOf(await get('/messages?affix=append&limit=100'))
      const said = messages.filter(({ category }: { category: string }) => category === 'message')
      const reactions = dataOf(await get(`/messages/${said[0].id}/reactions`))
      return {
        users: users.map(({ uid, name, deactivatedAt }: Record<string, unknown>) => [uid, name, deactivatedAt]),
        group: [group.name, group.owner, group.membersCount],
        members: members.map(({ uid, scope, joinedAt }: Record<string, unknown>) => [uid, scope, joinedAt]),
        said: said.map(({ sender, sentAt, data, parentId }: Message) => [
          sender,
          sentAt,
          data.text,
          parentId === undefined,
        ]),
        reactions: reactions.map(({ uid, reaction }: Record<string, unknown>) => [uid, reaction]),
      }
    }
    expect(await shown(other)).toEqual(await shown(world))
    expect([...problems, ...theirs.problems]).toEqual([])
    for (const file of files) await rm(path.dirname(file), { recursive: true })
  })

  it('have no messages for whoever may not read, and go on where they were stopped', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const grants = { role: 'developer', mayRead: false }
    const { page, problems } = await openAs(world, grants, `/apps/${world.app.name}/import?tab=export`)
    const status = page.getByRole('status').filter({ hasText: /./ })
    let mayPass = false
    const asked: string[] = []
    await page.route(/\/(users|groups)\?/, (route) => {
      const [, list = ''] = /\/(users|groups)\?/.exec(route.request().url()) ?? []
      asked.push(list)
      return mayPass || list === 'users' ? route.continue() : undefined
    })
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByRole('button', { name: 'Download users.ndjson.gz' }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await status.getByText('Stopped.', { exact: false }).waitFor()
    expect(await page.getByRole('button', { name: 'Download groups.ndjson.gz' }).count()).toBe(0)
    expect(await findingsOf(page)).toEqual([])
    mayPass = true
    await page.getByRole('button', { name: 'Go on' }).click()
    await status.getByText('Done.', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Download members.ndjson.gz' }).waitFor()
    expect(await page.getByRole('button', { name: 'Download messages.ndjson.gz' }).count()).toBe(0)
    expect(await page.getByRole('switch').count()).toBe(0)
    expect(asked.filter((list) => list === 'users')).toEqual(['users'])

    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('button', { name: 'Export', exact: true }).waitFor()
    expect(await keptIn(page)).toEqual(nothingKept)
    expect(problems).toEqual([])
  })

  it('have everybody where somebody goes while they are made', async () => {
    const world = await createWorld()
    const uids = Array.from({ length: 15 }, (_, n) => `user-${String(n).padStart(2, '0')}`)
    await createUsers(world, ...uids)
    const { page, problems } = await openAs(
      world,
      { role: 'developer', mayRead: false },
      `/apps/${world.app.name}/import?tab=export`,
    )
    let isGone = false
    await page.route(/\/users\?/, async (route) => {
      const address = new URL(route.request().url())
      address.searchParams.set('perPage', '10')
      if (address.searchParams.get('page') === '2' && !isGone) {
        isGone = true
        dataOf(await world.delete('/users/user-00', { permanent: true }))
      }
      await route.continue({ url: address.href })
    })
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download users.ndjson.gz' }).click()
    const text = String(gunzipSync(readFileSync(await (await downloading).path())))
    const found = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).uid)
    // An import takes each of them once.
    expect([...new Set(found)].sort()).toEqual(uids)
    expect(problems).toEqual([])
  })

  it('go on after a reload, from whatever page, in one tab at a time', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    for (const guid of ['one', 'two', 'three']) await createGroup(world, guid, 'alice', { participants: ['bob'] })
    for (const text of ['First', 'Second']) await say(world, 'alice', 'bob', text)
    const base = `/apps/${world.app.name}`
    const tab = await openAs(world, { role: 'developer' }, `${base}/import?tab=export`)
    const { page, problems } = tab
    const asked: string[] = []
    let open = ['users', 'groups', 'members-of-one']
    await page.context().route(/\/admin\/v1\/apps\/[^/]+\/(users|groups|messages)[/?]/, (route) => {
      const { pathname } = new URL(route.request().url())
      const [, guid] = /groups\/(\w+)\/members/.exec(pathname) ?? []
      const what = guid === undefined ? (pathname.split('/').at(-1) ?? '') : `members-of-${guid}`
      asked.push(what)
      return open.includes(what) ? route.continue() : undefined
    })
    await page.getByRole('switch', { name: 'With messages' }).click()
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/Your reason/)
      .fill('They move out')
    await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click()
    await until(() => asked.includes('members-of-three'))
    expect(await cellsOf(tab, 'members')).toEqual(['members', '2', ''])

    // Loaded again: what was read is there, and what was not is asked for again.
    asked.length = 0
    await page.reload()
    await page.getByText('With messages. Reason: They move out.', { exact: false }).waitFor()
    await until(() => asked.includes('members-of-three'))
    expect(asked).not.toContain('users')
    expect(asked).not.toContain('members-of-one')
    expect(await findingsOf(page)).toEqual([])
    // Another tab shows how far it is, and leaves it to the first one.
    const second = await tabIn(page.context(), world, `${base}/import?tab=export`)
    await second.page.getByRole('button', { name: 'Download groups.ndjson.gz' }).waitFor()
    expect(await cellsOf(second, 'members')).toEqual(['members', '2', ''])
    expect(asked.filter((what) => what === 'members-of-three')).toHaveLength(1)

    // The first one is closed: the second takes it up, from another page.
    await second.open(`${base}/keys`)
    open = [...open, 'members-of-two', 'members-of-three', 'messages']
    await page.close()
    await until(() => asked.includes('messages'))
    // It ends while nobody looks at it.
    await until(() => second.page.evaluate(async () => (await navigator.locks.query()).held?.length === 0))
    await second.open(`${base}/import?tab=export`)
    await second.page.getByText('Done.', { exact: false }).first().waitFor()
    await second.page.reload()
    await second.page.getByRole('button', { name: 'Download users.ndjson.gz' }).waitFor()
    const linesIn = async (kind: string) => {
      const downloading = second.page.waitForEvent('download')
      await second.page.getByRole('button', { name: `Download ${kind}.ndjson.gz` }).click()
      const text = String(gunzipSync(readFileSync(await (await downloading).path())))
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    }
    const members = (await linesIn('members')).map(({ guid, uid }) => `${guid} ${uid}`).sort()
    expect(members).toEqual(['one', 'three', 'two'].flatMap((guid) => [`${guid} alice`, `${guid} bob`]))
    const said = (await linesIn('messages')).filter(({ category }) => category === 'message')
    expect(said.map(({ data }) => data.text)).toEqual(['First', 'Second'])
    // One reason, one reading: it is not opened again as long as it lasts.
    expect(dataOf(await world.get('/audit-log?action=reading_opened'))).toHaveLength(1)
    expect([...problems, ...second.problems]).toEqual([])
  })

  it('are discarded for whoever comes after their operator', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const address = `/apps/${world.app.name}/import?tab=export`
    const make = async ({ page }: ConsoleTab) => {
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      await page.getByText('Done.', { exact: false }).first().waitFor()
      expect(await keptIn(page)).toEqual({ exports: 1, pieces: 0, files: 3 })
    }
    const tab = await openAs(world, { role: 'developer' }, address)
    const { page, problems } = tab
    await make(tab)
    // Signed out.
    await page.getByRole('button', { name: /your account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await keptIn(page)).toEqual(nothingKept)

    // Another operator, without that anybody has signed out.
    const owner = await createOwner(world)
    const grants = { role: 'developer', apps: [world.app.name] }
    const [first, second] = [await createOperator(owner, grants), await createOperator(owner, grants)]
    await signIn(page.context(), world, first)
    await tab.load(address)
    await make(tab)
    await signIn(page.context(), world, second)
    await tab.load(address)
    await page.getByRole('button', { name: 'Export', exact: true }).waitFor()
    await until(async () => (await keptIn(page)).exports === 0)
    expect(await keptIn(page)).toEqual(nothingKept)

    // Who finds that nobody is signed in any more.
    await make(tab)
    await page.context().clearCookies()
    await tab.load(address)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await until(async () => (await keptIn(page)).exports === 0)
    expect(await keptIn(page)).toEqual(nothingKept)
    expect(problems).toEqual([])
  })

  it('say so where the browser has no room for them, or keeps nothing', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const address = `/apps/${world.app.name}/import?tab=export`
    // Browsers remember for some seconds how much room there was: this one has not looked yet.
    const context = await openContext()
    const owner = await createOwner(world)
    await signIn(context, world, await createOperator(owner, { role: 'developer', apps: [world.app.name] }))
    const { page, problems } = await tabIn(context, world, '/account')
    const session = await page.context().newCDPSession(page)
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(world.url).origin, quotaSize: 1 })
    await page.goto(`${world.url}/console${address}`)
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByText('The browser has no room left for it.', { exact: false }).waitFor()
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(world.url).origin })
    await page.addInitScript(() => {
      IDBFactory.prototype.open = () => {
        throw new DOMException('The user denied it.', 'SecurityError')
      }
    })
    await page.reload()
    await page.getByText('This browser keeps nothing for this page', { exact: false }).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })
})

const nothingKept = { exports: 0, pieces: 0, files: 0 }

/** How much the browser keeps of exports. */
function keptIn(page: Page): Promise<typeof nothingKept> {
  return page.evaluate(async () => {
    const answerTo = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
    const database = await answerTo(indexedDB.open('parley-exports'))
    const counts: Record<string, number> = {}
    for (const store of database.objectStoreNames)
      counts[store] = await answerTo(database.transaction(store).objectStore(store).count())
    database.close()
    return counts as { exports: number; pieces: number; files: number }
  })
}
