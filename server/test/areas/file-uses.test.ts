import { once } from 'node:events'
import { request } from 'node:http'
import { sql } from 'kysely'
import { FormData, fetch, Response } from 'undici'
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

async function askToUpload(world: World) {
  const file = { fileId: 'f1', name: 'cat.png', size: 10, mimeType: 'image/png' }
  const asked = { files: { f1: file }, receiver: 'bob', receiverType: 'user' }
  return dataOf(await world.post('/files/upload-url', asked, { as: 'alice' }))
}

/** Uploads a picture that no message uses yet. @returns it, as messages name it */
async function upload(world: World): Promise<{ url: string }> {
  const { f1 } = await askToUpload(world)
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

const arrivingIn = (world: World) =>
  world.context.database.run(sql`select key from media_files where app_id = ${world.app.appId} and arriving`)

/** As if the time to claim files were over. */
async function passClaims(world: World): Promise<void> {
  await world.context.database.run(sql`
    update media_files set claim_by = 1 where app_id = ${world.app.appId} and claim_by is not null`)
  await world.context.media.sweep()
}

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
    await passClaims(world)
    expect((await fetch(file.url)).status).toBe(404)
  })

  it('is that of each file that a message names where addresses of files stand, and ends with it', async () => {
    const world = await createScene()
    const [video, thumbnail, icon] = [await upload(world), await upload(world), await upload(world)]
    const data = {
      attachments: [{ ...video, thumbnail: thumbnail.url }],
      metadata: { card: [{ icon: icon.url }], text: 'x' },
    }
    const { id } = await say(world, 'alice', 'bob', 'look', { type: 'image', data })
    await passClaims(world)
    for (const { url } of [video, thumbnail, icon]) expect((await fetch(url)).status).toBe(200)
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    for (const { url } of [video, thumbnail, icon]) expect((await fetch(url)).status).toBe(404)
  })

  it('counts from when its message is sent, also while the file is still arriving', async () => {
    const world = await createScene()
    const { f1 } = await askToUpload(world)
    const form = new FormData()
    form.append('file', new Blob(['0123456789'], { type: 'image/png' }), 'cat.png')
    const whole = new Response(form)
    const body = Buffer.from(await whole.arrayBuffer())
    const headers = { 'content-type': whole.headers.get('content-type') ?? '', 'content-length': String(body.length) }
    const uploading = request(f1.request.url, { method: 'POST', headers })
    const answered = once(uploading, 'response')
    const half = body.indexOf('01234') + 5
    uploading.write(body.subarray(0, half))
    await until(async () => (await arrivingIn(world)).length > 0)
    await forward(world, 'alice', 'bob', f1.attachment)
    uploading.end(body.subarray(half))
    const [answer] = await answered
    expect(answer.statusCode).toBe(200)
    await passClaims(world)
    const served = await fetch(f1.attachment.url)
    expect([served.status, await served.text()]).toEqual([200, '0123456789'])
  })

  it('does not keep what was given up while it arrived', async () => {
    const world = await createScene()
    const file = await upload(world)
    await forward(world, 'alice', 'bob', file)
    await world.context.database.run(sql`
      update media_files set arriving = true, claim_by = 1 where app_id = ${world.app.appId}`)
    await world.context.media.sweep()
    await world.context.media.sweep()
    expect(await world.context.database.run(sql`select from media_files where app_id = ${world.app.appId}`)).toEqual([])
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
    expect(dataOf(await (answer as ReturnType<typeof sendForm>)).uids).toMatchObject({
      bob: { success: false, error: { code: 'ERR_EXCEPTION' } },
      carol: { success: true },
    })
    const received = await until(async () => {
      const messages = dataOf(await world.get('/users/alice/messages', { as: 'carol' }))
      return messages.find(({ type }: { type: string }) => type === 'image')
    })
    expect((await fetch(received.data.url)).status).toBe(200)
  })
})
