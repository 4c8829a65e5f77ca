import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { FormData } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/cli/import/run.ts'
import { moveInCommand } from '../../src/cli/move-in/run.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { type Hosted, startHosted } from './hosted.ts'
import { collect } from './import-world.ts'

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-move-in-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return path.join(folder, 'move')
}

async function moveIn(source: World, hosted: Hosted, target: World, folder: string, ...more: string[]) {
  const [stdout, stderr] = [collect(), collect()]
  const args = ['--from', hosted.url, '--from-app', source.app.name, '--apikey', source.apiKey]
  const to = ['--url', target.url, '--app', target.app.name, '--to-apikey', target.apiKey]
  const code = await moveInCommand([...args, ...to, '--into', folder, ...more], {
    stdout,
    stderr,
    env: { OUTBOUND_ALLOW: '127.0.0.1' },
    cwd: folder,
    signal: new AbortController().signal,
    clock: systemClock,
  })
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

const done = async (answer: ReturnType<World['get']>) => dataOf(await answer)

/** A world with something of everything. */
async function fill(world: World): Promise<void> {
  await done(world.post('/roles', { role: 'tutor', name: 'Tutor', description: 'teaches', metadata: { level: 2 } }))
  await done(world.put('/roles/tutor/permissions', { permissions: { 'user.messages.send': 'allow' } }).catch((e) => e))
  await createUsers(world, 'alice', 'bob', 'carol', 'dave', 'gone')
  await done(
    world.put('/users/alice', { role: 'tutor', metadata: { '@private': { mail: 'a@example.com' } }, tags: ['vip'] }),
  )
  await createGroup(world, 'team', 'alice')
  await done(world.post('/groups', { guid: 'locked', name: 'Locked', type: 'password', password: 'secret' }))
  await done(world.post('/groups/team/members', { participants: ['bob', 'carol'], moderators: ['gone'] }))
  await done(world.post('/groups/team/bannedusers/dave', {}))
  // Who joins has read what was written in that second.
  await setTimeout(1100)
  await done(world.post('/users/alice/friends', { accepted: ['bob', 'carol'] }))
  const first = await say(world, 'alice', 'bob', 'hello', { tags: ['greeting'], muid: 'm-1' })
  const second = await say(world, 'bob', 'alice', 'helo <@uid:alice>')
  await done(world.put(`/messages/${second.id}`, { data: { text: 'hello <@uid:alice>' } }, { as: 'bob' }))
  const third = await say(world, 'alice', 'bob', 'to be deleted')
  await done(world.delete(`/messages/${third.id}`, {}, { as: 'alice' }))
  await done(world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
  await say(world, 'alice', 'bob', 'not yet read')
  const root = await sayInGroup(world, 'bob', 'team', 'a thread')
  for (const [n, uid] of ['alice', 'carol', 'gone'].entries())
    await sayInGroup(world, uid, 'team', `reply ${n}`, { parentId: root.id })
  for (const uid of ['alice', 'carol'])
    await done(world.post(`/messages/${root.id}/reactions/${encodeURIComponent('🍅')}`, {}, { as: uid }))
  await done(world.post(`/messages/${root.id}/pin`, {}, { as: 'alice' }))
  await done(world.post(`/messages/${first.id}/save`, {}, { as: 'bob' }))
  await done(world.put('/groups/team/conversation', { tags: ['work'] }, { as: 'bob' }))
  const custom = {
    receiver: 'bob',
    receiverType: 'user',
    category: 'custom',
    type: 'location',
    data: { customData: { lat: 1 } },
  }
  await done(world.post('/messages', custom, { as: 'carol' }))
  await sendFile(world)
  for (let n = 0; n < 60; n++) await sayInGroup(world, n % 2 === 0 ? 'bob' : 'carol', 'team', `line ${n}`)
  await done(world.post('/users/carol/blockedusers', { blockedUids: ['dave'] }))
  await done(world.delete('/users/gone', { permanent: true }))
}

async function sendFile(world: World): Promise<void> {
  const file = { name: 'cat.png', size: 10, mimeType: 'image/png' }
  const { f1 } = dataOf(
    await world.post(
      '/files/upload-url',
      { files: { f1: file }, receiver: 'bob', receiverType: 'user' },
      { as: 'alice' },
    ),
  )
  const form = new FormData()
  form.append('file', new Blob(['0123456789'], { type: 'image/png' }), 'cat.png')
  const { fetch } = await import('undici')
  expect((await fetch(f1.request.url, { method: 'POST', body: form })).status).toBe(200)
  const data = { attachments: [f1.attachment] }
  dataOf(await world.post('/messages', { receiver: 'bob', receiverType: 'user', type: 'image', data }, { as: 'alice' }))
}

/** All messages of an app by conversation, in words that do not depend on its ids. */
async function messagesOf(world: World) {
  const listed = dataOf(await world.get('/messages?affix=append&limit=1000&withTags=true'))
  // Of different conversations, the order within a second is anybody's.
  const rows = listed.toSorted((one: { conversationId: string }, other: { conversationId: string }) =>
    one.conversationId < other.conversationId ? -1 : one.conversationId > other.conversationId ? 1 : 0,
  )
  const names = new Map<string, number>(rows.map(({ id }: { id: string }, place: number) => [id, place]))
  return Promise.all(
    rows.map(async (row: Record<string, unknown> & { id: string; data: Record<string, unknown> }) => {
      const reactions = row.reactions === undefined ? [] : dataOf(await world.get(`/messages/${row.id}/reactions`))
      const { attachments, text, customData, action } = row.data
      return {
        ...Object.fromEntries(
          [
            'conversationId',
            'sender',
            'receiver',
            'receiverType',
            'category',
            'type',
            'tags',
            'sentAt',
            'editedAt',
            'deletedAt',
            'replyCount',
            'pinnedBy',
          ].map((name) => [name, row[name]]),
        ),
        ...(row.receiverType === 'user' && { deliveredAt: row.deliveredAt, readAt: row.readAt }),
        parent: names.get(String(row.parentId)),
        data: {
          text,
          customData,
          action,
          files: (attachments as { name: string }[] | undefined)?.map(({ name }) => name),
        },
        reactions: reactions.map(({ reaction, uid }: { reaction: string; uid: string }) => `${reaction} ${uid}`).sort(),
      }
    }),
  )
}

/** What people see in their lists. */
async function viewsOf(world: World) {
  const uids = ['alice', 'bob', 'carol', 'dave']
  return Promise.all(
    uids.map(async (uid) => ({
      friends: dataOf(await world.get(`/users/${uid}/friends`)).map((row: { uid: string }) => row.uid),
      blocked: dataOf(await world.get(`/users/${uid}/blockedusers?direction=blockedByMe`)).map(
        (row: { uid: string }) => row.uid,
      ),
      conversations: dataOf(await world.get('/conversations?withTags=true', { as: uid }))
        .map(
          ({
            conversationId,
            unreadMessageCount,
            tags,
            lastMessage,
          }: Record<string, unknown> & { conversationId: string; lastMessage: { data: { text?: string } } }) => ({
            conversationId,
            // Imported messages of groups are read.
            ...(conversationId.includes('_user_') && { unreadMessageCount }),
            tags,
            text: lastMessage?.data.text,
          }),
        )
        .toSorted((one: { conversationId: string }, other: { conversationId: string }) =>
          one.conversationId < other.conversationId ? -1 : 1,
        ),
      saved: dataOf(await world.get('/messages?saved=true', { as: uid })).map(
        ({ data }: { data: { text: string } }) => data.text,
      ),
    })),
  )
}

describe('parley move-in', () => {
  it('moves everything that lists tell out of a service that has a bad day', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await fill(source)
    const hosted = await startHosted(source.url, { limited: 15, failed: 20, reset: 25, slow: 15, repeated: 6 })
    const folder = await makeFolder()
    const moved = await moveIn(source, hosted, target, folder)
    expect(moved.stderr).not.toContain('parley move-in:')
    expect(moved, moved.stdout + moved.stderr).toMatchObject({ code: 0 })
    for (const trouble of ['limited', 'failed', 'reset', 'slow', 'repeated'] as const)
      expect(hosted.seen[trouble], trouble).toBeGreaterThan(0)

    expect(await messagesOf(target)).toEqual(await messagesOf(source))
    expect(await viewsOf(target)).toEqual(await viewsOf(source))
    for (const list of ['/groups/team/members', '/groups/team/bannedusers']) {
      const rows = async (world: World) =>
        dataOf(await world.get(list)).map(({ uid, scope, joinedAt }: Record<string, unknown>) => ({
          uid,
          scope,
          joinedAt,
        }))
      expect(await rows(target)).toEqual(await rows(source))
    }
    const alice = async (world: World) => dataOf(await world.get('/users/alice'))
    const { updatedAt: _, conversationId: __, ...profile } = await alice(source)
    expect(await alice(target)).toMatchObject(profile)

    const report = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(report.notices.map(({ code }: { code: string }) => code)).toEqual(
      expect.arrayContaining(['group-password', 'deleted-user', 'unread-not-set']),
    )
    expect(report.files).toMatchObject({ copied: 1, uploaded: 1, failed: 0 })
    expect(moved.stdout).toContain('Not to be had over REST')

    // The copied file is served by the target, and belongs to the message.
    const [image] = dataOf(await target.get('/messages?type=image'))
    const { url } = image.data.attachments[0]
    expect(url).toContain(`/media/${target.app.name}/`)
    expect(await (await fetch(url)).text()).toBe('0123456789')

    // Both sides are compared anew; a difference is found.
    expect(await moveIn(source, hosted, target, folder, '--verify')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Equal'),
    })
    const [{ id }] = dataOf(await target.get('/messages?searchKey=line%2017'))
    dataOf(await target.put(`/messages/${id}`, { data: { text: 'forged' } }))
    dataOf(await target.delete('/users/alice/friends', { friends: ['carol'] }))
    const compared = await moveIn(source, hosted, target, folder, '--verify')
    expect(compared).toMatchObject({ code: 1 })
    const verified = JSON.parse(await readFile(path.join(folder, 'verify.json'), 'utf8'))
    expect(verified.named).toEqual([
      { where: 'friends and blocks alice friend carol', what: 'is missing in the new service' },
      { where: 'friends and blocks carol friend alice', what: 'is missing in the new service' },
      { where: expect.stringContaining('of group_team'), what: 'differs', fields: ['isEdited', 'data'] },
    ])
    expect(await readFile(path.join(folder, 'verify.md'), 'utf8')).toContain('**3 differences**')
    dataOf(await target.put(`/messages/${id}`, { data: { text: 'line 17' } }))

    // Again: everything is there already.
    const again = await moveIn(source, hosted, target, folder)
    expect(again).toMatchObject({ code: 0 })
    expect(await viewsOf(target)).toEqual(await viewsOf(source))
  }, 60_000)

  it('goes on where it was killed, as often as that happens, within the limit of the source', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    await createGroup(source, 'team', 'alice', { participants: ['bob'] })
    for (let n = 0; n < 150; n++) await sayInGroup(source, n % 3 === 0 ? 'bob' : 'alice', 'team', `line ${n}`)
    const hosted = await startHosted(source.url, { perSecond: 20 })
    const folder = await makeFolder()
    const main = path.resolve(import.meta.dirname, '../../dist/cli/main.js')
    const args = [main, 'move-in', '--from', hosted.url, '--from-app', source.app.name, '--into', folder]
    const env = { ...process.env, MOVE_IN_API_KEY: source.apiKey, PARLEY_API_KEY: target.apiKey }
    const run = (...more: string[]) =>
      spawn(process.execPath, [...args, ...more], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const milliseconds of [1200, 1700]) {
      const killed = run()
      const ended = once(killed, 'exit')
      await setTimeout(milliseconds)
      killed.kill('SIGKILL')
      expect((await ended)[1]).toBe('SIGKILL')
    }
    const last = run('--url', target.url, '--app', target.app.name)
    let written = ''
    last.stderr.on('data', (chunk) => {
      written += chunk
    })
    const [code] = await once(last, 'exit')
    expect(code, written).toBe(0)
    expect(await messagesOf(target)).toEqual(await messagesOf(source))
    const scanned = (await readFile(path.join(folder, 'messages.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(scanned).toHaveLength(dataOf(await source.get('/messages?limit=1000')).length)
    // It waits for the limit; hardly anything is asked beyond it.
    expect(hosted.seen.perSecond).toBeLessThan(hosted.seen.requests * 0.3)
  }, 60_000)

  it('says what is wrong, and touches no folder of something else', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    const hosted = await startHosted(source.url)
    const folder = await makeFolder()
    expect(await moveIn({ ...source, apiKey: 'expired' }, hosted, target, folder)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('does not accept the API key'),
    })
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    const other = await startHosted(source.url)
    expect(await moveIn(source, other, target, folder)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is a move from'),
    })
    expect(await moveIn(source, hosted, target, os.tmpdir())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no checkpoint of a move'),
    })
    expect(await moveIn(source, hosted, target, folder, '--without', 'everything')).toMatchObject({ code: 2 })
  }, 30_000)
})
