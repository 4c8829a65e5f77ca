import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOwner } from '../admin/operator.ts'
import { describeWith } from '../gate/needs.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import type { Service } from '../support/own-services.ts'
import { connect, eventually, type Frame, tokenOf } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { redisServer } from './redis.ts'
import { type Cluster, createCluster, metricOf, through } from './support.ts'

const isPresence = (uid: string, action: string) => (frame: Frame) =>
  frame.type === 'presence' && frame.sender === uid && frame.body.action === action

describeWith(redisServer, 'two processes on one database and one Redis', () => {
  let cluster: Cluster
  let first: Service
  let second: Service

  beforeAll(async () => {
    cluster = await createCluster()
    const limits = { RATE_LIMITS: 'markUnreadPerUser=5' }
    ;[first, second] = [await cluster.start(limits), await cluster.start(limits)]
  })
  afterAll(() => cluster.close())

  /** One app, seen through both. */
  const worlds = async (...uids: string[]): Promise<[World, World]> => {
    const world = await createWorld(first)
    await createUsers(world, ...uids)
    return [world, through(second, world)]
  }

  it('a message sent on one is received on the other as it was answered, by both sides’ devices', async () => {
    const [here, there] = await worlds('alice', 'bob')
    const bob = await connect(there, 'bob')
    const tab = await connect(there, 'alice', { deviceId: 'tab' })
    const token = await tokenOf(here, 'alice')
    const phone = await connect(there, 'alice', { deviceId: 'phone', token })
    const body = { receiver: 'bob', receiverType: 'user', data: { text: 'héllo 中国' }, metadata: { n: 1 } }
    const sent = dataOf(await here.post('/messages', body, { token, headers: { resource: 'phone' } }))
    for (const client of [bob, tab]) expect((await client.takeType('message')).body).toEqual(sent)
    const back = await say(there, 'bob', 'alice', 'back')
    expect((await phone.takeText('back')).body).toEqual(back)
    expect(phone.frames.filter(({ type }) => type === 'message')).toEqual([])
  })

  it('an operator who waits on one hears of what happens on the other', async () => {
    const [here, there] = await worlds('alice', 'bob')
    const owner = await createOwner(here)
    let answer: unknown
    const waiting = owner.get(`/apps/${here.app.name}/changes?wait=25`).then((said) => {
      answer = dataOf(said)
    })
    await until(async () => {
      if (answer === undefined) await say(there, 'alice', 'bob', 'Psst')
      return answer !== undefined
    })
    await waiting
    expect(answer).toEqual({ happened: true })
  })

  it('an edit, a deletion and a reaction on one are told on the other', async () => {
    const [here, there] = await worlds('alice', 'bob')
    const bob = await connect(there, 'bob')
    const { id } = await say(here, 'alice', 'bob', 'one')
    await bob.takeText('one')
    dataOf(await here.put(`/messages/${id}`, { data: { text: 'two' } }, { as: 'alice' }))
    const edited = await bob.take(({ body }) => body.data?.action === 'edited')
    expect(edited.body.data.entities.on.entity.data.text).toBe('two')
    dataOf(await here.post(`/messages/${id}/reactions/👍`, {}, { as: 'alice' }))
    expect((await bob.takeType('reaction')).body).toMatchObject({ reaction: '👍', uid: 'alice' })
    dataOf(await here.delete(`/messages/${id}`, {}, { as: 'alice' }))
    await bob.take(({ body }) => body.data?.action === 'deleted')
  })

  it('who is kicked on one is sent that on the other as the last of the group; who is given to a new one hears it', async () => {
    const [here, there] = await worlds('alice', 'bob', 'carol')
    const [bob, carol] = [await connect(there, 'bob'), await connect(there, 'carol')]
    await createGroup(here, 'team', 'alice', { participants: ['bob', 'carol'] })
    for (const client of [bob, carol]) {
      expect((await client.takeType('message')).body.data).toMatchObject({ action: 'added' })
    }
    dataOf(await here.delete('/groups/team/members/bob', undefined, { as: 'alice' }))
    await sayInGroup(there, 'carol', 'team', 'there')
    await sayInGroup(here, 'alice', 'team', 'here')
    await carol.takeText('here')
    expect((await bob.takeType('message')).body.data).toMatchObject({ action: 'kicked' })
    await bob.pong()
    expect(bob.frames).toEqual([])
  })

  it('receipts and typing cross, and so do marks made over a socket', async () => {
    const [here, there] = await worlds('alice', 'bob')
    const [alice, bob] = [await connect(here, 'alice'), await connect(there, 'bob')]
    const { id } = await say(here, 'alice', 'bob', 'read me')
    await bob.takeText('read me')
    const about = { receiver: 'alice', receiverType: 'user' }
    bob.send({ type: 'receipts', ...about, body: { action: 'delivered', messageId: id } })
    expect((await alice.takeType('receipts')).body).toMatchObject({ action: 'delivered', messageId: id })
    dataOf(await there.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    expect((await alice.takeType('receipts')).body).toMatchObject({ action: 'read', messageId: id })
    bob.send({ type: 'typing_indicator', ...about, body: { action: 'started' } })
    expect((await alice.takeType('typing_indicator')).sender).toBe('bob')
    bob.send({ type: 'transient_message', ...about, body: { data: { live: true } } })
    expect((await alice.takeType('transient_message')).body.data).toEqual({ live: true })
  })

  it('typing reaches a group’s members on both, and nobody who is blocked', async () => {
    const [here, there] = await worlds('alice', 'bob', 'carol', 'dave')
    await createGroup(here, 'team', 'alice', { participants: ['bob', 'carol', 'dave'] })
    const [alice, bob, carol, dave] = [
      await connect(here, 'alice'),
      await connect(there, 'bob'),
      await connect(there, 'carol'),
      await connect(here, 'dave'),
    ]
    // The process there has looked the blocks up by now; the news must drop them.
    alice.send({ type: 'typing_indicator', receiver: 'team', receiverType: 'group', body: { action: 'started' } })
    for (const client of [bob, carol, dave]) await client.takeType('typing_indicator')
    dataOf(await here.post('/users/carol/blockedusers', { blockedUids: ['alice'] }))
    alice.send({ type: 'typing_indicator', receiver: 'team', receiverType: 'group', body: { action: 'ended' } })
    for (const client of [bob, dave]) await client.takeType('typing_indicator')
    await sayInGroup(here, 'alice', 'team', 'hi')
    await carol.takeText('hi')
    expect(carol.frames.filter(({ type }) => type === 'typing_indicator')).toEqual([])
  })

  it('who is added on one hears of the group on the other at once, who is kicked nothing more', async () => {
    const [here, there] = await worlds('alice', 'bob', 'carol')
    await createGroup(here, 'team', 'alice', { participants: ['bob'] })
    const [bob, carol] = [await connect(there, 'bob'), await connect(there, 'carol')]
    await sayInGroup(there, 'alice', 'team', 'before')
    await bob.takeText('before')
    dataOf(await here.post('/groups/team/members', { participants: ['carol'] }))
    await sayInGroup(there, 'alice', 'team', 'welcome')
    await Promise.all([bob.takeText('welcome'), carol.takeText('welcome')])
    for (let round = 0; round < 10; round++) {
      dataOf(await here.delete('/groups/team/members/bob'))
      await sayInGroup(there, 'alice', 'team', `without ${round}`)
      await carol.takeText(`without ${round}`)
      dataOf(await here.post('/groups/team/members', { participants: ['bob'] }))
      await sayInGroup(there, 'alice', 'team', `with ${round}`)
      await Promise.all([bob.takeText(`with ${round}`), carol.takeText(`with ${round}`)])
    }
    dataOf(await here.post('/groups/team/bannedusers/bob', {}))
    await sayInGroup(there, 'alice', 'team', 'in private')
    await carol.takeText('in private')
    await bob.pong()
    const heard = bob.frames.filter(({ type }) => type === 'message').map(({ body }) => body.data.text)
    expect(heard.filter((text) => text === 'in private' || text?.startsWith('without'))).toEqual([])
  })

  it('a user is online until he has left both, and is told of once each way', async () => {
    const [here, there] = await worlds('watcher', 'bob')
    const everybody = { body: { presenceSubscription: 'ALL_USERS' } }
    const watchers = [await connect(here, 'watcher', everybody), await connect(there, 'watcher', everybody)]
    const status = async () => dataOf(await here.get('/users/bob')).status
    const onOne = await connect(here, 'bob')
    for (const watcher of watchers) await watcher.take(isPresence('bob', 'online'))
    const onOther = await connect(there, 'bob')
    const nodes = () =>
      cluster.services.query('select from presence where app_id = $1 and uid = $2', [here.app.appId, 'bob'])
    await eventually(nodes, ({ length }) => length === 2)
    onOne.close()
    await eventually(nodes, ({ length }) => length === 1)
    expect(await status()).toBe('available')
    onOther.close()
    for (const watcher of watchers) await watcher.take(isPresence('bob', 'offline'))
    expect(await status()).toBe('offline')
    for (const watcher of watchers) {
      await watcher.pong()
      expect(watcher.frames.filter(({ type, sender }) => type === 'presence' && sender === 'bob')).toEqual([])
    }
  })

  it('a token revoked on one closes its socket on the other, the others stay', async () => {
    const [here, there] = await worlds('alice')
    const tokens = [await tokenOf(here, 'alice'), await tokenOf(here, 'alice')]
    const [gone, kept] = [
      await connect(there, 'alice', { token: tokens[0] as string, deviceId: 'gone' }),
      await connect(there, 'alice', { token: tokens[1] as string, deviceId: 'kept' }),
    ]
    dataOf(await here.delete(`/users/alice/auth_tokens/${tokens[0]}`))
    expect(await gone.closed()).toBe(4403)
    await kept.pong()
    dataOf(await here.delete('/users', { uidsToDeactivate: ['alice'] }))
    expect(await kept.closed()).toBe(4403)
  })

  it('what others publish in their Redis is dropped, counted, and changes nothing', async () => {
    const [here, there] = await worlds('alice', 'bob')
    const bob = await connect(there, 'bob')
    const redis = first.parley.context.redis
    const place = { kind: 'user', first: 'alice', second: 'bob' }
    const event = { signal: 'typing_indicator', ...place, uid: 'alice', device: 'd', body: { action: 'started' } }
    const forged = `forger e1 ${JSON.stringify([here.app.appId, event])}`
    const channel = redis?.name('events') ?? ''
    const dropped = () => metricOf(second.url, 'parley_remote_forged_total')
    const before = (await dropped()) ?? 0
    for (const text of [forged, `${'A'.repeat(43)}= ${forged}`, 'nonsense'])
      await redis?.commands.publish(channel, text)
    await say(here, 'alice', 'bob', 'behind it')
    await bob.takeText('behind it')
    expect(bob.frames).toEqual([])
    expect(await dropped()).toBe(before + 3)
  })

  it('a limit counts the requests of both together', async () => {
    const [here, there] = await worlds('alice', 'bob')
    await say(here, 'alice', 'bob', 'hi')
    const answers = []
    for (let i = 0; i < 12; i++) {
      answers.push(await (i % 2 ? here : there).delete('/users/alice/conversation/read', {}, { as: 'bob' }))
    }
    const taken = answers.filter(({ status }) => status === 200)
    expect(taken.length).toBeLessThan(12)
    expect(answers.filter((answer) => refusal(answer) === '429 ERR_TOO_MANY_REQUESTS').length).toBeGreaterThan(0)
    const left = answers.slice(0, 3).map(({ headers }) => Number(headers['x-rate-limit-remaining']))
    // They fall from one process to the other, unless one more has just come in.
    expect(left.filter((each, i) => i > 0 && each === (left[i - 1] as number) - 1).length).toBeGreaterThan(0)
  })

  it('a key deleted and a role’s permission changed on one count on the other', async () => {
    const [here, there] = await worlds('alice', 'bob')
    const { apiKey } = dataOf(await here.post('/apikeys', { name: 'passing', scope: 'fullAccess' }))
    const withKey = () => there.get('/users', { headers: { apikey: apiKey } })
    expect((await withKey()).status).toBe(200)
    dataOf(await here.delete(`/apikeys/${apiKey}`))
    await eventually(withKey, ({ status }) => status === 401)

    const list = () => there.get('/users', { as: 'alice' })
    expect((await list()).status).toBe(200)
    dataOf(await here.put('/roles/default/permissions', { permissions: { listUsers: 'deny' } }))
    await eventually(list, ({ status }) => status === 403)
  })

  it('a rule made on one is in force on the other, and so is each change of its list', async ({ annotate }) => {
    const [here, there] = await worlds('alice', 'bob')
    const list = { id: 'insults', name: 'Insults', category: 'word', searchTerms: 'darn' }
    const condition = { operand: 'text', category: 'word', isKeywordsReferencePresent: true, value: ['insults'] }
    const isBlocked = async (text: string) => {
      return (await say(there, 'alice', 'bob', text)).data.moderation?.status === 'disapproved'
    }
    expect(await isBlocked('darn')).toBe(false)
    dataOf(await here.post('/moderation/keywords', list))
    dataOf(await here.post('/moderation/rules', { id: 'first', name: 'First', conditions: [condition] }))
    await until(() => isBlocked('darn'))
    for (const word of ['heck', 'drat', 'gosh']) {
      dataOf(await here.put('/moderation/keywords/insults', { searchTerms: word }))
      const answeredAt = performance.now()
      await until(() => isBlocked(word), { interval: 5 })
      await annotate(`in force on the other ${Math.round(performance.now() - answeredAt)} ms after the answer`)
    }
  })

  it('each says in its metrics that it hears the other', async () => {
    for (const { url } of [first, second]) {
      expect(await metricOf(url, 'parley_redis_up')).toBe(1)
      expect(await metricOf(url, 'parley_remote_processes')).toBe(1)
      expect(await metricOf(url, 'parley_remote_events_total{direction="received"}')).toBeGreaterThan(0)
    }
  })

  it('deployments that share a Redis under one prefix do not hear of each other', async () => {
    const [here] = await worlds('alice')
    const channels = (await cluster.redis.command('PUBSUB', 'CHANNELS', '*')) as string[]
    expect(channels).toHaveLength(1)
    const digest = here.context.secrets.digest('redis').toString('hex').slice(0, 16)
    expect(channels[0]).toBe(`parley:${digest}:events`)
  })
})
