import { sql } from 'kysely'
import { FormData, fetch } from 'undici'
import { describe, expect, it, vi } from 'vitest'
import { releaseUses } from '../../src/chat/messages/file-uses.ts'
import type { Transaction } from '../../src/store/database.ts'
import { dataOf, say } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { untilWaitedFor } from '../support/waiters.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

async function createScene(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  return world
}

/** Uploads a picture that no message uses yet. @returns it, as messages name it */
async function upload(world: World): Promise<{ url: string }> {
  const file = { fileId: 'f1', name: 'cat.png', size: 10, mimeType: 'image/png' }
  const asked = { files: { f1: file }, receiver: 'bob', receiverType: 'user' }
  const { f1 } = dataOf(await world.post('/files/upload-url', asked, { as: 'alice' }))
  const form = new FormData()
  form.append('file', new Blob(['0123456789'], { type: 'image/png' }), 'cat.png')
  const answer = await fetch(f1.request.url, { method: 'POST', body: form })
  expect(answer.status).toBe(200)
  return f1.attachment
}

const forward = (world: World, from: string, to: string, attachment: { url: string }) =>
  say(world, from, to, 'look', { type: 'image', data: { attachments: [attachment] } })

const usesIn = async (world: World) =>
  world.context.database.run(sql`select key from media_uses where app_id = ${world.app.appId}`)

/**
 * Takes the moment when the next message to a user is stored and is made ready to be answered.
 * @param act what is done then; what it throws, the send fails with
 */
function onceStored(world: World, receiver: string, act: () => Promise<void>): void {
  const { entities } = world.context.messages
  const { user } = entities
  const spy = vi.spyOn(entities, 'user').mockImplementation(async (appId, uid, options) => {
    if (appId === world.app.appId && uid === receiver) {
      spy.mockRestore()
      await act()
    }
    return user(appId, uid, options)
  })
}

describe('The use of a file', () => {
  it('is stored with its message: it ends when that is deleted before it is answered', async () => {
    const world = await createScene()
    for (const end of [
      async () => {
        const [{ id }] = dataOf(await world.get('/users/bob/messages', { as: 'alice' }))
        dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
      },
      async () => {
        const options = { deleteMessagesPermanently: true }
        dataOf(await world.delete('/users/bob/conversation', options, { as: 'alice' }))
      },
    ]) {
      const file = await upload(world)
      onceStored(world, 'bob', end)
      await forward(world, 'alice', 'bob', file)
      expect(await usesIn(world)).toEqual([])
      expect((await fetch(file.url)).status).toBe(404)
    }
  })

  it('outlives a send that fails once its message is stored: a retry answers with a file that is there', async () => {
    const world = await createScene()
    const fields = { ...toBob, muid: 'once' }
    onceStored(world, 'bob', () => Promise.reject(new Error('a failure after the commit')))
    expect((await sendForm(world, fields, [picture])).status).toBe(500)
    const { data } = dataOf(await sendForm(world, fields, [picture]))
    const served = await fetch(data.url)
    expect([served.status, await served.text()]).toEqual([200, '0123456789'])
    expect(await usesIn(world)).toHaveLength(1)
  })

  it('outlives that of another message which ends at the same moment', async () => {
    const world = await createScene()
    const file = await upload(world)
    const message = await forward(world, 'alice', 'bob', file)
    await world.context.database.transaction(async (tx) => {
      await releaseUses(tx, world.app.appId, [Number(message.id)])
      await forward(world, 'bob', 'carol', file)
    })
    await world.context.media.sweep()
    const served = await fetch(file.url)
    expect([served.status, await served.text()]).toEqual([200, '0123456789'])
    await world.context.media.sweep()
    expect((await fetch(file.url)).status).toBe(200)
  })

  it('takes its file with it, also where it ends in the moment in which the sweep finds that the file is used', async () => {
    const world = await createScene()
    const { database, media } = world.context
    const { appId } = world.app
    const file = await upload(world)
    const release = (on: Transaction, { id }: { id: string }) => releaseUses(on, appId, [Number(id)])
    const first = await forward(world, 'alice', 'bob', file)
    const second = await database.transaction(async (tx) => {
      await release(tx, first)
      return forward(world, 'bob', 'carol', file)
    })
    await database.transaction(async (tx) => {
      await release(tx, second)
      await media.sweep()
    })
    expect(await usesIn(world)).toEqual([])
    await database.run(sql`update media_files set claim_by = 1 where app_id = ${appId} and claim_by is not null`)
    await media.sweep()
    expect((await fetch(file.url)).status).toBe(404)
  })

  it('outlives a send to several that fails for one of them while others are still sent', async () => {
    const world = await createScene()
    await say(world, 'alice', 'carol', 'first')
    const { messages } = world.context
    const { write } = messages
    const spy = vi.spyOn(messages, 'write').mockImplementation((row) => {
      return row.receiver === 'bob' ? Promise.reject(new Error('a failure of the database')) : write(row)
    })
    const multipleReceivers = JSON.stringify({ uids: ['bob', 'carol'] })
    let answer: ReturnType<typeof sendForm> | undefined
    await world.context.database.transaction(async (tx) => {
      await tx.run(sql`
        select key from conversations
        where app_id = ${world.app.appId} and first = 'alice' and second = 'carol' for update`)
      answer = sendForm(world, { type: 'image', multipleReceivers }, [picture])
      await untilWaitedFor(tx)
    })
    spy.mockRestore()
    expect((await answer)?.status).toBe(500)
    const received = await until(async () => {
      const messages = dataOf(await world.get('/users/alice/messages', { as: 'carol' }))
      return messages.find(({ type }: { type: string }) => type === 'image')
    })
    expect((await fetch(received.data.url)).status).toBe(200)
  })
})
