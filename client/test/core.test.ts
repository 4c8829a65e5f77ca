import { beforeAll, describe, expect, it } from 'vitest'
import { ConnectionError, createServerClient, createUserClient, type Fetch, ParleyError } from '../src/index.ts'
import { answering, type ClientWorld, createClientWorld, fetchWith, losingTheAnswer } from './support.ts'

let world: ClientWorld
beforeAll(async () => {
  world = await createClientWorld()
  for (const uid of ['alice', 'bob']) await world.server.users.create({ uid, name: uid })
})

const hello = { receiver: 'bob', receiverType: 'user', data: { text: 'hello' } } as const

describe('A back end', () => {
  it('sends, reads, edits and deletes, as the app and on behalf of users', async () => {
    const alice = world.server.as('alice')
    const sent = await alice.messages.send(hello)
    expect(sent).toMatchObject({ sender: 'alice', receiver: 'bob', data: { text: 'hello' } })
    const found = await world.server.as('bob').messages.get({ messageId: sent.id })
    expect(found).toMatchObject({ id: sent.id, data: { text: 'hello' } })
    const edited = await alice.messages.edit({ messageId: sent.id, data: { text: 'hello there' } })
    expect(edited.data).toMatchObject({ action: 'edited' })
    await world.server.messages.delete({ messageId: sent.id })
    const page = await alice.messages.listWithUser({ uid: 'bob', affix: 'prepend', limit: 5 })
    expect(page.data.find(({ id }) => id === sent.id)?.deletedAt).toBeGreaterThan(0)
    const asApp = await world.server.messages.send(hello)
    expect(asApp.sender).toBe('app_system')
    const asBob = await world.server.messages.send({ ...hello, receiver: 'alice' }, { onBehalfOf: 'bob' })
    expect(asBob.sender).toBe('bob')
  })

  it('keeps groups: members, scopes, bans', async () => {
    const { groups } = world.server
    await groups.create({ guid: 'team', name: 'Team', type: 'password', password: 'pass' })
    const added = await groups.members.add({ guid: 'team', admins: ['alice'] })
    expect(added.admins).toMatchObject({ alice: { success: true } })
    expect(await world.server.as('bob').groups.join({ guid: 'team', password: 'pass' })).toMatchObject({
      category: 'action',
      data: { action: 'joined' },
    })
    expect(await groups.members.changeScope({ guid: 'team', uid: 'bob', scope: 'moderator' })).toMatchObject({
      scope: 'moderator',
    })
    const members = await groups.members.list({ guid: 'team' })
    expect(members.data.map(({ uid, scope }) => [uid, scope])).toEqual([
      ['alice', 'admin'],
      ['bob', 'moderator'],
    ])
    await groups.bans.add({ guid: 'team', uid: 'bob' })
    expect((await groups.bans.list({ guid: 'team' })).data).toMatchObject([{ uid: 'bob' }])
    await groups.bans.remove({ guid: 'team', uid: 'bob' })
    expect((await groups.bans.list({ guid: 'team' })).data).toEqual([])
  })

  it('sends to several, and counts', async () => {
    const { uids } = await world.server.as('alice').messages.sendToMany({
      multipleReceivers: { uids: ['bob', 'nobody'] },
      data: { text: 'to all' },
    })
    expect(uids).toMatchObject({
      bob: { success: true, data: { data: { text: 'to all' } } },
      nobody: { success: false, error: { code: 'ERR_UID_NOT_FOUND' } },
    })
    const counts = await world.server.as('bob').messages.count({ unread: true })
    expect(counts).toContainEqual({ entityId: 'alice', entityType: 'user', count: expect.any(Number) })
  })

  it('sends members of the query beside a body', async () => {
    await world.server.notifications.mutesOf.add({
      uid: 'bob',
      conversations: [{ id: 'alice', type: 'oneOnOne', until: Date.now() + 3_600_000 }],
    })
    expect(JSON.stringify(await world.server.notifications.mutesOf.list({ uid: 'bob' }))).toContain('alice')
  })

  it('calls any operation by its method and path, ids in it escaped', async () => {
    const user = await world.server.call('GET /users/{uid}', { uid: 'alice' })
    expect(user.name).toBe('alice')
    await expect(world.server.users.get({ uid: '../groups' })).rejects.toMatchObject({ status: 404 })
    await expect(world.server.users.get({} as never)).rejects.toThrow('uid is missing')
    const message = await world.server.as('alice').messages.send(hello)
    await world.server.as('bob').messages.reactions.add({ messageId: message.id, reaction: '👍/👎?' })
    const { data } = await world.server.messages.reactions.list({ messageId: message.id })
    expect(data).toMatchObject([{ reaction: '👍/👎?', uid: 'bob' }])
  })

  it('reads the errors of the contract, and those of a proxy', async () => {
    const refused = await world.server.users.create({ uid: 'alice', name: 'again' }).catch((error) => error)
    expect(refused).toBeInstanceOf(ParleyError)
    expect(refused).toMatchObject({ code: 'ERR_UID_ALREADY_EXISTS', status: 409 })
    expect(refused.devMessage).toContain('alice')
    const wrong = await world.server.users.create({ uid: 1 } as never).catch((error) => error)
    expect(wrong).toMatchObject({ code: 'ERR_BAD_REQUEST', status: 400, details: [{ path: expect.any(String) }, {}] })
    const alice = await world.userClient('alice', { fetch: fetchWith(answering(500)), retries: 0 })
    await expect(alice.me.get()).rejects.toMatchObject({ status: 500, code: undefined })
  })
})

/** A page of events with these ids. */
function answeringEvents(meta: { cursor?: string; after?: string; more?: boolean }, ...ids: string[]): () => Fetch {
  const text = JSON.stringify({ data: ids.map((id) => ({ id })), meta: { more: false, ...meta } })
  return () => async () => ({ status: 200, headers: { get: () => null }, text: async () => text })
}

describe('Lists', () => {
  it('give a page, and all rows to those who iterate, while rows are added', async () => {
    const uids = Array.from({ length: 7 }, (_, index) => `lister-${index}`)
    for (const uid of uids) await world.server.users.create({ uid, name: uid })
    const page = await world.server.users.list({ searchKey: 'lister', perPage: 3 })
    expect(page.meta.pagination).toMatchObject({ total: 7, total_pages: 3 })
    const seen: string[] = []
    for await (const user of world.server.users.list({ searchKey: 'lister', perPage: 3 })) {
      seen.push(user.uid)
      // Sorts before all others, and so moves them on by one.
      if (seen.length === 2) await world.server.users.create({ uid: 'lister-', name: 'a lister' })
    }
    expect(seen).toEqual(uids)
  })

  it('go both ways through messages', async () => {
    const alice = world.server.as('alice')
    await world.server.users.create({ uid: 'carol', name: 'carol' })
    const texts = Array.from({ length: 10 }, (_, index) => `message ${index}`)
    for (const text of texts) await alice.messages.send({ ...hello, receiver: 'carol', data: { text } })
    const read = async (affix: 'append' | 'prepend', ...more: string[]) => {
      const found: unknown[] = []
      for await (const { data } of alice.messages.listWithUser({ uid: 'carol', affix, limit: 3 })) {
        found.push(data.text)
        const text = more.shift()
        if (text !== undefined) await alice.messages.send({ ...hello, receiver: 'carol', data: { text } })
      }
      return found
    }
    expect(await read('append')).toEqual(texts)
    expect(await read('prepend', 'later')).toEqual(texts.toReversed())
    expect(await read('append', 'last')).toEqual([...texts, 'later', 'last'])
  })

  it('are empty, or fail, for those who iterate, too', async () => {
    const none = []
    for await (const user of world.server.users.list({ searchKey: 'no such user' })) none.push(user)
    expect(none).toEqual([])
    const iterate = async () => {
      for await (const _ of world.server.groups.members.list({ guid: 'no-such-group' }));
    }
    await expect(iterate()).rejects.toMatchObject({ code: 'ERR_GUID_NOT_FOUND' })
  })

  it('of events go on by their own cursor, as long as there are more', async () => {
    const asked: string[] = []
    const page = (ids: string[], cursor: string, more: boolean) => () => async (url: string) => {
      asked.push(url.slice(url.indexOf('?')))
      const text = JSON.stringify({ data: ids.map((id) => ({ id })), meta: { cursor, more } })
      return { status: 200, headers: { get: () => null }, text: async () => text }
    }
    const fetch = fetchWith(page(['1', '2'], '2', true), page(['3'], '3', false))
    const server = createServerClient({ url: 'http://127.0.0.1', apiKey: 'key', fetch })
    const ids: string[] = []
    for await (const { id } of server.events.list({ after: '0' })) ids.push(id)
    expect(ids).toEqual(['1', '2', '3'])
    expect(asked).toEqual(['?after=0', '?after=2'])
  })

  it('of events go on past pages of which nothing is shown', async () => {
    const fetch = fetchWith(answeringEvents({ cursor: '7', more: true }), answeringEvents({ cursor: '8' }, '8'))
    const server = createServerClient({ url: 'http://127.0.0.1', apiKey: 'key', fetch })
    const ids: string[] = []
    for await (const { id } of server.events.list({ after: '0' })) ids.push(id)
    expect(ids).toEqual(['8'])
  })

  it('of what a user has missed go on to the last', async () => {
    const frida = await world.userClient('frida')
    const { meta } = await frida.me.events()
    for (let n = 0; n < 3; n++) await world.server.as('bob').messages.send({ ...hello, receiver: 'frida' })
    const all = await frida.me.events({ after: meta.after })
    expect(all.data).toHaveLength(3)
    const ids: string[] = []
    for await (const { id } of frida.me.events({ after: meta.after, limit: 1 })) ids.push(id)
    expect(ids).toEqual(all.data.map(({ id }) => id))
  })

  it('of what a user has missed wait a moment where what comes next is still being stored', async () => {
    const askedAt: number[] = []
    const noting =
      (answer: () => Fetch): (() => Fetch) =>
      () =>
      (url, init) => {
        askedAt.push(performance.now())
        return answer()(url, init)
      }
    const storing = { after: '5', more: true }
    const pages = [answeringEvents(storing), answeringEvents(storing), answeringEvents({ after: '6' }, '6')]
    const fetch = fetchWith(...pages.map(noting))
    const user = createUserClient({ url: 'http://127.0.0.1', authToken: 'token', fetch })
    const ids: string[] = []
    for await (const { id } of user.me.events({ after: '5' })) ids.push(id)
    expect(ids).toEqual(['6'])
    expect(Math.min(...askedAt.slice(1).map((at, n) => at - (askedAt[n] ?? 0)))).toBeGreaterThan(100)
  })
})

describe('A call that fails', () => {
  it('is sent again where it can be, and stored once', async () => {
    const fetch = fetchWith(losingTheAnswer, answering(503, { 'retry-after': '0' }))
    const dora = await world.userClient('dora', { fetch })
    const sent = await dora.messages.send(hello)
    expect(fetch.count).toBe(3)
    expect(sent.muid).toMatch(/^[0-9a-f]{32}$/)
    const { data } = await dora.messages.listWithUser({ uid: 'bob' })
    expect(data.map(({ id }) => id)).toEqual([sent.id])
  })

  it('is not sent again where it might be done twice', async () => {
    const fetch = fetchWith(losingTheAnswer)
    const erik = await world.userClient('erik', { fetch })
    await expect(erik.groups.create({ guid: 'eriks', name: 'E', type: 'public' })).rejects.toBeInstanceOf(
      ConnectionError,
    )
    expect(fetch.count).toBe(1)
    expect(await erik.groups.get({ guid: 'eriks' })).toMatchObject({ guid: 'eriks' })
  })

  it('that is over a limit waits as long as it is told, and fails at once if that is long', async () => {
    const soon = fetchWith(answering(429, { 'retry-after': '1' }))
    const fred = await world.userClient('fred', { fetch: soon })
    const before = Date.now()
    await fred.blocks.add({ blockedUids: ['bob'] })
    expect(Date.now() - before).toBeGreaterThanOrEqual(999)
    const late = fetchWith(answering(429, { 'retry-after': '3600' }))
    const gina = await world.userClient('gina', { fetch: late })
    await expect(gina.me.get()).rejects.toMatchObject({ status: 429, retryAfter: 3600 })
    expect(late.count).toBe(1)
  })

  it('ends when its signal or its time is over, while it runs and while it waits', async () => {
    const never =
      () =>
      (_: string, { signal }: { signal?: AbortSignal }) =>
        new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    const hanging = await world.userClient('hans', { fetch: fetchWith(never, never), retries: 0, timeout: 50 })
    await expect(hanging.me.get()).rejects.toThrow(/no answer within 50 ms/)
    const reason = new Error('the page was left')
    const controller = new AbortController()
    const asked = hanging.me.get({}, { signal: controller.signal, timeout: 0 })
    controller.abort(reason)
    await expect(asked).rejects.toBe(reason)
    await expect(hanging.me.get({}, { signal: controller.signal })).rejects.toBe(reason)
    const waiting = await world.userClient('ida', { fetch: fetchWith(answering(503, { 'retry-after': '20' })) })
    const second = new AbortController()
    const paused = waiting.me.get({}, { signal: second.signal })
    setTimeout(() => second.abort(reason), 50)
    await expect(paused).rejects.toBe(reason)
  })
})

describe('The token of a user', () => {
  const tokenOf = async (uid: string) => (await world.server.users.tokens.create({ uid })).authToken as string

  it('is asked for once by all who wait, and again when it is refused', async () => {
    let asked = 0
    const jane = await world.userClient('jane', {
      authToken: async () => {
        asked++
        return asked === 1 ? 'jane_0000' : await tokenOf('jane')
      },
    })
    const answers = await Promise.all([jane.me.get(), jane.users.list({ perPage: 1 }), jane.friends.list()])
    expect(answers[0]).toMatchObject({ uid: 'jane' })
    expect(asked).toBe(2)
  })

  it('that stays refused is an error, and no loop', async () => {
    let asked = 0
    const kurt = await world.userClient('kurt', { authToken: async () => `kurt_${++asked}` })
    await expect(kurt.me.get()).rejects.toMatchObject({ code: 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND', status: 401 })
    expect(asked).toBe(2)
    const fixed = await world.userClient('kurt', { authToken: 'kurt_0' })
    await expect(fixed.me.get()).rejects.toMatchObject({ status: 401 })
  })

  it('that could not be had is asked for again by the next call', async () => {
    let asked = 0
    const lena = await world.userClient('lena', {
      authToken: async () => {
        if (++asked === 1) throw new Error('the back end is away')
        return await tokenOf('lena')
      },
    })
    await expect(lena.me.get()).rejects.toThrow('the back end is away')
    expect(await lena.me.get()).toMatchObject({ uid: 'lena' })
  })

  it('lets its user do what users may, and no more', async () => {
    const mia = await world.userClient('mia')
    const sent = await mia.messages.send(hello)
    expect(sent.sender).toBe('mia')
    await expect(mia.call('POST /users', { uid: 'new', name: 'new' })).rejects.toMatchObject({ status: 403 })
    const elsewhere = createUserClient({ url: world.url, appId: 'no-such-app', authToken: 'x' })
    await expect(elsewhere.me.get()).rejects.toMatchObject({ code: 'AUTH_ERR_INVALID_APPID' })
  })
})

describe('Files', () => {
  it('are uploaded before the message they belong to, with progress', async () => {
    const nora = await world.userClient('nora')
    const files = ['one', 'three'].map((text) => new File([text], `${text}.txt`, { type: 'text/plain' }))
    const steps: (readonly [number, number])[] = []
    const attachments = await nora.messages.upload(files, {
      receiver: 'bob',
      receiverType: 'user',
      onProgress: (sent, total) => steps.push([sent, total]),
    })
    expect(steps).toEqual([
      [3, 8],
      [8, 8],
    ])
    const sent = await nora.messages.send({ ...hello, type: 'file', data: { attachments } })
    const [first] = sent.data.attachments as { url: string }[]
    expect(await (await fetch(first!.url)).text()).toBe('one')
  })

  it('that may not be sent are refused before a byte is', async () => {
    const olaf = await world.userClient('olaf')
    const upload = olaf.messages.upload([new File(['x'], 'x.txt')], { receiver: 'nobody', receiverType: 'user' })
    await expect(upload).rejects.toMatchObject({ code: 'ERR_UID_NOT_FOUND' })
  })
})
