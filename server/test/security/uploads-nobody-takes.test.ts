import { existsSync, readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { attackerAs } from '../support/attacker.ts'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { endOfForm, fieldPart, fileHead, openForm, sendForm } from '../support/forms.ts'
import { startService } from '../support/service.ts'
import { tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const megabyte = 1024 * 1024
const text = { receiver: 'bob', receiverType: 'user', data: { text: 'still here' } }
const fields = { receiver: 'bob', receiverType: 'user', type: 'file' }
const file = (megabytes: number) => ({ name: 'a.bin', type: 'text/plain', content: 'x'.repeat(megabytes * megabyte) })

/** How many files lie on the disk for an app. */
function filesOf({ app }: World): number {
  const folder = path.join(os.tmpdir(), `parley-test-media-${process.pid}`, String(app.appId))
  if (!existsSync(folder)) return 0
  return readdirSync(folder).flatMap((name) => readdirSync(path.join(folder, name))).length
}

/** One token sends files that nobody is to get, until the disk is full. */
describe('Files of a user', () => {
  it('are not stored where their message is refused', async () => {
    const world = await createWorld()
    await createUsers(world, 'mallory', 'bob', 'carol')
    await createGroup(world, 'others', 'bob')
    await createGroup(world, 'secret', 'bob', {}, { type: 'private' })
    dataOf(await world.post('/users/carol/blockedusers', { blockedUids: ['mallory'] }))
    const token = await tokenOf(world, 'mallory')
    const refused: Record<string, string>[] = [
      { ...fields, receiver: 'nobody' },
      { ...fields, receiver: 'carol' },
      { ...fields, receiver: 'others', receiverType: 'group' },
      { ...fields, receiver: 'secret', receiverType: 'group' },
      { ...fields, type: 'nonsense' },
      { ...fields, parentId: '9007199254740990' },
    ]
    for (const named of refused) {
      const answer = await sendForm(world, named, [file(1), file(1)], { token })
      expect(answer.status, JSON.stringify(named)).not.toBe(200)
      // Fields that come behind the files are known too late to be asked before: then what was stored goes at once.
      const late = openForm(world, { token })
      late.write(`${fileHead('a.bin', 'text/plain')}${'x'.repeat(megabyte)}\r\n`)
      for (const [name, value] of Object.entries(named)) late.write(fieldPart(name, value))
      late.write(endOfForm)
      late.end()
      expect((await late.answer).status).not.toBe(200)
    }
    await expect.poll(() => filesOf(world)).toBe(0)
  })

  it('are bounded by the day', async () => {
    const world = await createWorld()
    await createUsers(world, 'mallory', 'bob')
    await world.call('PATCH', `/apps/${world.app.name}/settings`, { uploadMegabytesPerDay: 3 })
    const token = await tokenOf(world, 'mallory')
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await sendForm(world, fields, [file(1)], { token })).status)
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(3)
    expect(filesOf(world)).toBeLessThanOrEqual(3)
    const mallory = await attackerAs(world, 'mallory')
    expect((await mallory.post('/messages', text)).status).toBe(200)
    const bobs = await sendForm(world, { ...fields, receiver: 'mallory' }, [file(1)], {
      token: await tokenOf(world, 'bob'),
    })
    expect(bobs.status).toBe(200)
  })

  it('leave the disk room: then texts still go', async () => {
    const service = await startService({ MEDIA_MIN_FREE_MB: '999999999' })
    const world = await createWorld(service)
    await createUsers(world, 'mallory', 'bob')
    const token = await tokenOf(world, 'mallory')
    expect(refusal(await sendForm(world, fields, [file(1)], { token }))).toBe('503 ERR_MISSION_FAILED')
    const mallory = await attackerAs(world, 'mallory')
    expect((await mallory.post('/messages', text)).status).toBe(200)
    expect(filesOf(world)).toBe(0)
    await service.parley.close()
  })

  it('that are announced and do not come give back what they announced', async () => {
    const service = await startService({ UPLOAD_STALL_SECONDS: '1' })
    const world = await createWorld(service)
    await createUsers(world, 'mallory', 'bob')
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { mediaMegabytes: 10 }))
    const token = await tokenOf(world, 'mallory')
    const head = Object.entries(fields).map(([name, value]) => fieldPart(name, value))
    const stalled = openForm(world, { token, length: 9 * megabyte })
    stalled.write(`${head.join('')}${fileHead('a.bin', 'text/plain')}x`)
    await expect.poll(() => filesOf(world)).toBe(1)
    const bobs = () => sendForm(world, { ...fields, receiver: 'mallory' }, [file(5)], { as: 'bob' })
    expect(refusal(await bobs())).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await stalled.answer)).toBe('408 ERR_UPLOAD_STALLED')
    expect((await bobs()).status).toBe(200)
    stalled.abort()
    await service.parley.close()
  })
})
