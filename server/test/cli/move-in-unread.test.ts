import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { startHosted } from './hosted.ts'
import { done, makeFolder, moveIn } from './move-in-world.ts'

const unreadOf = async (world: World, uid: string, guid = 'team') =>
  Number(dataOf(await world.get(`/groups/${guid}/conversation`, { as: uid })).unreadMessageCount)

const readAll = (world: World, uid: string, guid = 'team') =>
  done(world.post(`/groups/${guid}/conversation/read`, {}, { as: uid }))

/** Groups of alice and bob, in which alice has said something that bob has read. */
async function createScene(...guids: string[]) {
  const [source, target] = [await createWorld(), await createWorld()]
  await createUsers(source, 'alice', 'bob')
  for (const guid of guids) await createGroup(source, guid, 'alice', { participants: ['bob'] })
  // Who joins has read what was written in that second.
  await setTimeout(1100)
  for (const guid of guids) {
    await sayInGroup(source, 'alice', guid, 'first')
    await sayInGroup(source, 'alice', guid, 'second')
    await readAll(source, 'bob', guid)
  }
  const hosted = await startHosted(source.url)
  return { source, target, hosted, folder: await makeFolder() }
}

describe('what a move leaves unread in groups', () => {
  it('is nothing where conversations are left out, neither of what was there nor of what is followed', async () => {
    const { source, target, hosted, folder } = await createScene('team')
    const without = ['--without', 'conversations']
    expect(await moveIn(source, hosted, target, folder, ...without)).toMatchObject({ code: 0 })
    for (const uid of ['alice', 'bob']) expect(await unreadOf(target, uid)).toBe(0)
    await sayInGroup(source, 'alice', 'team', 'while it follows')
    await writeFile(path.join(folder, 'cut-over'), '')
    expect(await moveIn(source, hosted, target, folder, '--follow', ...without)).toMatchObject({ code: 0 })
    expect(dataOf(await target.get('/messages?searchKey=while'))).toHaveLength(1)
    for (const uid of ['alice', 'bob']) expect(await unreadOf(target, uid)).toBe(0)
  })

  it('is nothing of conversations that somebody has cleared where only resets are left out', async () => {
    const { source, target, hosted, folder } = await createScene('team', 'other')
    await done(source.delete('/groups/team/conversation', {}, { as: 'bob' }))
    await sayInGroup(source, 'alice', 'other', 'not yet read')
    expect(await moveIn(source, hosted, target, folder, '--without', 'resets')).toMatchObject({ code: 0 })
    expect(await unreadOf(target, 'bob')).toBe(0)
    expect(await unreadOf(target, 'bob', 'other')).toBe(1)
  })

  it('is nothing of a group that gets a message after those were read, before its members are', async () => {
    for (const more of [[], ['--without', 'resets']]) {
      const { source, target, hosted, folder } = await createScene('team', 'other')
      await sayInGroup(source, 'alice', 'other', 'not yet read')
      hosted.onRequest = once(/\/friends\?|\/conversations\?/, async () => {
        await sayInGroup(source, 'alice', 'team', 'meanwhile')
        await readAll(source, 'bob')
        await sayInGroup(source, 'alice', 'other', 'neither')
      })
      expect(await moveIn(source, hosted, target, folder, ...more)).toMatchObject({ code: 0 })
      for (const uid of ['alice', 'bob']) expect(await unreadOf(target, uid)).toBe(0)
      expect([await unreadOf(target, 'alice', 'other'), await unreadOf(target, 'bob', 'other')]).toEqual([0, 1])
    }
  })

  it('is nothing of a group that somebody reads while their conversations are read', async () => {
    const { source, target, hosted, folder } = await createScene('team')
    await sayInGroup(source, 'alice', 'team', 'not yet read')
    hosted.onRequest = once(/unread=true/, () => readAll(source, 'bob'))
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    expect(await unreadOf(target, 'bob')).toBe(0)
  })
})

/** Does something when the first request to such a path comes; all of them wait for it. */
function once(paths: RegExp, act: () => Promise<unknown>) {
  let acting: Promise<unknown> | undefined
  return (path: string) => {
    if (paths.test(path)) acting ??= act()
    return acting
  }
}
