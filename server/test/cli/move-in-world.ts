import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { FormData } from 'undici'
import { expect, onTestFinished } from 'vitest'
import { systemClock } from '../../src/cli/import/run.ts'
import type { Clock } from '../../src/cli/import/service.ts'
import { moveInCommand } from '../../src/cli/move-in/run.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { createUsers, type World } from '../support/world.ts'
import type { Hosted } from './hosted.ts'
import { collect } from './import-world.ts'

/** A folder that is not there yet. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-move-in-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return path.join(folder, 'move')
}

type Move = readonly [source: World, hosted: Hosted, target: World, folder: string, ...more: string[]]

/** Starts `parley move-in` in this process. */
export function startMove(...move: Move) {
  return startMoveBy(systemClock, ...move)
}

/** The same by a clock that may jump. */
export function startMoveBy(clock: Clock, ...[source, hosted, target, folder, ...more]: Move) {
  const [stdout, stderr] = [collect(), collect()]
  const args = ['--from', hosted.url, '--from-app', source.app.name, '--apikey', source.apiKey]
  const to = ['--url', target.url, '--app', target.app.name, '--to-apikey', target.apiKey]
  const asked = new AbortController()
  let isOver = false
  const ended = moveInCommand([...args, ...to, '--into', folder, ...more], {
    stdout,
    stderr,
    env: { OUTBOUND_ALLOW: '127.0.0.1' },
    cwd: folder,
    signal: asked.signal,
    clock,
  }).finally(() => {
    isOver = true
  })
  return {
    ended,
    isOver: () => isOver,
    written: () => stderr.text() + stdout.text(),
    stdout: () => stdout.text(),
    stderr: () => stderr.text(),
    cutOver: () => asked.abort(),
  }
}

/** Runs `parley move-in` in this process, to its end. */
export async function moveIn(...args: Move) {
  const move = startMove(...args)
  const code = await move.ended
  return { code, stdout: move.stdout(), stderr: move.stderr() }
}

/** Waits for an answer that must be a success. */
export const done = async (answer: ReturnType<World['get']>) => dataOf(await answer)

/** A world with something of everything. */
export async function fill(world: World): Promise<void> {
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
  await say(world, 'alice', 'bob', 'not yet\u2028read')
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
  for (const _ of [1, 2, 3]) await done(world.post('/users/bob/auth_tokens', {}))
  await chooseNotifications(world)
  await done(world.delete('/users/gone', { permanent: true }))
}

async function chooseNotifications(world: World): Promise<void> {
  const at = '/notifications/v1'
  const group = { messagesSetting: 3, repliesOverride: false }
  await done(world.call('PATCH', `${at}/settings`, { preferences: { group }, sound: { chat: 'chime' } }))
  const chosen = { groupPreferences: { groupReactions: 3 }, mutePreferences: { schedule: { sunday: { dnd: true } } } }
  await done(world.call('PATCH', `${at}/preferences?uid=bob`, chosen))
  const conversations = [
    { id: 'alice', type: 'oneOnOne', until: 4_000_000_000_000 },
    { id: 'team', type: 'group' },
  ]
  await done(world.put(`${at}/preferences/mute?uid=bob`, { conversations }))
  await done(world.call('PATCH', `${at}/preferences/timezone?uid=carol`, { timezone: 'Asia/Singapore' }))
  await done(world.call('PATCH', `${at}/contact-details`, { email: 'carol@example.com' }, { as: 'carol' }))
}

/** What holds about notifications, of the app and of its users. */
export async function notificationsOf(world: World) {
  const at = '/notifications/v1'
  const lists = ['preferences', 'preferences/mute', 'preferences/timezone']
  const ofUsers = ['alice', 'bob', 'carol'].flatMap((uid) => [
    ...lists.map((list) => world.get(`${at}/${list}?uid=${uid}`)),
    world.get(`${at}/contact-details`, { as: uid }),
  ])
  return (await Promise.all([world.get(`${at}/settings`), ...ofUsers])).map(dataOf)
}

/** alice sends bob a file. */
export async function sendFile(world: World): Promise<void> {
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
export async function messagesOf(world: World) {
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
export async function viewsOf(world: World) {
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
            unreadMessageCount,
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
