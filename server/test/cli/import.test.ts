import { access, readdir } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { generate } from 'selfsigned'
import { describe, expect, it, onTestFinished } from 'vitest'
import { failure, isInSpan, startImportService } from './import-service.ts'
import { createImportWorld, message, row, users } from './import-world.ts'

const order = ['users', 'groups', 'members', 'messages']
const groups = [{ guid: 'g1', name: 'G', type: 'public' }]
const members = [{ memberId: 'g1_member_ann', guid: 'g1', uid: 'ann' }]
const talk = (count: number, from = 'ann', to = 'bob') =>
  Array.from({ length: count }, (_, index) => message(`${from}-${to}-${index}`, from, to))

describe('parley import', () => {
  it('sends users, groups, members and messages in that order, from plain and gzipped files', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson.gz', users('ann', 'bob'))
    await world.put('groups.ndjson', groups)
    await world.put('members.ndjson', members)
    await world.put('messages.ndjson.gz', [...talk(3), message('g', 'ann', 'g1')])
    const outcome = await world.run('--app', 'shop')
    expect(outcome.code).toBe(0)
    const kinds = world.service.requests.flatMap(({ kind }) => kind ?? [])
    expect([...kinds].sort((a, b) => order.indexOf(a) - order.indexOf(b))).toEqual(kinds)
    expect(new Set(kinds).size).toBe(4)
    expect(world.service.requests.every(({ headers }) => headers.appid === 'shop')).toBe(true)
    expect(row(outcome, 'users')).toEqual([2, 2, 0, 0])
    expect(row(outcome, 'groups')).toEqual([1, 1, 0, 0])
    expect(row(outcome, 'members')).toEqual([1, 1, 0, 0])
    expect(row(outcome, 'messages')).toEqual([4, 4, 0, 0])
    expect(outcome.stdout).toContain('2 conversations compared with the service: 2 same, 0 more')
    expect(outcome.stderr).toContain('messages: 100%, 4 records')
    expect(await readdir(world.folder)).not.toContain('import-refused.ndjson')
  })

  it('takes files of what lists of the API answer, and says what it leaves out', async () => {
    const world = await createImportWorld()
    const said = { sender: 'ann', receiverType: 'user', receiver: 'bob', sentAt: 1_700_000_000, data: { text: 'hi' } }
    await world.put('users.ndjson', [{ uid: 'ann', name: 'Ann', status: 'offline', mood: 'fine' }, ...users('bob')])
    await world.put('groups.ndjson', groups)
    await world.put('members.ndjson', [{ guid: 'g1', uid: 'ann', name: 'Ann', scope: 'admin' }])
    await world.put('messages.ndjson', [
      { ...said, id: '1', reactions: [{ reaction: '👍', count: 1 }] },
      { ...said, id: '2', muid: 'mine', parentId: '1' },
      { ...said, id: '3', parentId: '2', reactions: [{ reaction: '👍', uid: 'bob' }] },
    ])
    const outcome = await world.run()
    expect(outcome.code).toBe(0)
    const sent = (kind: string) =>
      world.service.requests.flatMap((request) => (request.kind === kind ? request.records : []))
    expect(sent('members')).toMatchObject([{ memberId: 'g1_member_ann' }])
    expect(sent('messages')).toMatchObject([
      { muid: '1' },
      { muid: 'mine', parentMuid: '1' },
      { muid: '3', parentMuid: 'mine', reactions: { '👍': ['bob'] } },
    ])
    expect(outcome.stdout).toContain('Left out of users, as an import does not know it: mood (1).')
    expect(outcome.stdout).toContain('Left out of messages, as an import does not know it: reactions (1).')
    expect((await world.run('--dry-run')).stdout).toContain('mood (1)')
  })

  it('keeps the order of each conversation while requests run in parallel', async () => {
    const world = await createImportWorld()
    const people = Array.from({ length: 20 }, (_, index) => `user${index}`)
    const expected = new Map(people.map((uid) => [`boss_user_${uid}`, talk(30, 'boss', uid).map(({ muid }) => muid)]))
    const mixed = Array.from({ length: 30 }, (_, turn) => people.map((uid) => talk(30, 'boss', uid)[turn]!)).flat()
    await world.put('users.ndjson', users('boss'))
    await world.put('messages.ndjson', mixed)
    let release = () => {}
    const together = new Promise<void>((resolve) => {
      release = resolve
    })
    let waiting = 0
    world.service.obstacle = async ({ kind }) => {
      if (kind === 'messages' && ++waiting === 4) release()
      if (kind === 'messages') await together
      return undefined
    }
    const outcome = await world.run('--batch', '7', '--concurrency', '4')
    expect(outcome.code).toBe(0)
    expect(world.service.conversations).toEqual(expected)
    expect(world.service.load).toEqual({ most: 4, shared: false })
    expect(Math.max(...world.service.requests.map(({ records }) => records.length))).toBe(7)
  })

  it('sends the messages of a conversation together that wait while others are answered', async () => {
    const world = await createImportWorld()
    const people = Array.from({ length: 20 }, (_, index) => `user${index}`)
    const inTurn = Array.from({ length: 30 }, (_, turn) => people.map((uid) => talk(30, 'boss', uid)[turn]!)).flat()
    await world.put('users.ndjson', users('boss'))
    // All are read by the time at which the first request is answered, since a file of this size comes in one piece.
    await world.put('messages.ndjson', inTurn)
    expect((await world.run('--batch', '30', '--concurrency', '1')).code).toBe(0)
    const talks = world.service.requests
      .filter(({ kind }) => kind === 'messages')
      .map(({ records }) => new Set(records.map(({ receiver }) => receiver)).size)
    expect(talks).toHaveLength(20)
    // The first ones have what came first of each; later ones what had gathered of one or two.
    expect(talks.filter((count) => count > 2).length).toBeLessThanOrEqual(1)
    expect(world.service.stored.messages).toHaveLength(600)
  })

  it('keeps every body below 8 MB, however many records a request may have', async () => {
    const world = await createImportWorld()
    const long = 'x'.repeat(1_500_000)
    await world.put('users.ndjson', users('ann'))
    await world.put(
      'messages.ndjson',
      talk(9).map((record) => ({ ...record, data: { text: long } })),
    )
    expect((await world.run('--batch', '1000')).code).toBe(0)
    const bodies = world.service.requests.filter(({ kind }) => kind === 'messages').map(({ bytes }) => bytes)
    expect(bodies.length).toBeLessThan(9)
    expect(Math.max(...bodies)).toBeLessThan(8 * 1024 * 1024)
    expect(world.service.stored.messages).toHaveLength(9)
  })

  it('finds everything already there when it is run again', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann', 'bob'))
    await world.put('groups.ndjson', groups)
    await world.put('members.ndjson', members)
    await world.put('messages.ndjson', talk(5))
    await world.run()
    const again = await world.run()
    expect(again.code).toBe(0)
    expect(row(again, 'users')).toEqual([2, 0, 2, 0])
    expect(row(again, 'groups')).toEqual([1, 0, 1, 0])
    expect(row(again, 'members')).toEqual([1, 0, 1, 0])
    expect(row(again, 'messages')).toEqual([5, 0, 5, 0])
    expect(again.stdout).toContain('1 same')
  })

  it('names every refused record in the report and stores its neighbours', async () => {
    const world = await createImportWorld()
    const lines = [
      '{"uid":"ann","name":"Ann"}',
      '{"uid":"bob"',
      '',
      '[1]',
      '{"uid":7,"name":"Seven"}',
      '{"uid":"carl"}',
      '{"uid":"dora","name":"Dora"}',
    ]
    await world.put('users.ndjson', lines.join('\n'))
    await world.put('messages.ndjson', [message('m1', 'ann', 'dora'), message('m2', 'nobody', 'ann')])
    const outcome = await world.run()
    expect(outcome.code).toBe(1)
    expect(row(outcome, 'users')).toEqual([6, 2, 0, 4])
    expect(row(outcome, 'messages')).toEqual([2, 1, 0, 1])
    expect(outcome.stdout).toContain(`Refused records are in ${path.join(world.folder, 'import-refused.ndjson')}`)
    expect(outcome.stdout).toContain('Records that name a user or group that is not there: 1.')
    expect(world.service.stored.users.toSorted()).toEqual(['ann', 'dora'])
    const report = await world.report()
    expect(report.toSorted((a, b) => a.line - b.line || a.kind.localeCompare(b.kind))).toMatchObject([
      { kind: 'messages', line: 2, key: 'm2', error: { code: 'ERR_UID_NOT_FOUND' }, record: { sender: 'nobody' } },
      { kind: 'users', line: 2, key: null, error: { message: expect.stringContaining('JSON') }, record: lines[1] },
      { kind: 'users', line: 4, key: null, error: { message: 'the record must be a JSON object' }, record: [1] },
      { kind: 'users', line: 5, key: null, error: { details: [{ path: 'uid' }] }, record: { uid: 7 } },
      {
        kind: 'users',
        line: 6,
        key: 'carl',
        error: { code: 'ERR_IMPORT_INVALID_USER_FORMAT' },
        record: { uid: 'carl' },
      },
    ])
  })

  it('removes the report of an earlier run and writes to the file that it is given', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', '{}\n')
    await world.put('import-refused.ndjson', 'old')
    expect((await world.run('--report', 'mine.ndjson')).code).toBe(1)
    expect(await world.report('mine.ndjson')).toHaveLength(1)
    await world.put('users.ndjson', users('ann'))
    expect((await world.run()).code).toBe(0)
    await expect(access(path.join(world.folder, 'import-refused.ndjson'))).rejects.toThrow('ENOENT')
  })

  it('sends a repeated id in a request of its own, since answers go by id', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann', 'bob', 'ann'))
    await world.put('messages.ndjson', [...talk(2), ...talk(2)])
    const outcome = await world.run('--concurrency', '1')
    expect(outcome.code).toBe(0)
    expect(row(outcome, 'users')).toEqual([3, 2, 1, 0])
    expect(row(outcome, 'messages')).toEqual([4, 2, 2, 0])
    expect(outcome.stdout).toContain('1 same, 0 more (messages not of this import), 0 fewer')
  })
})

describe('parley import, where ids differ in upper and lower case only', () => {
  it('refuses the second, whatever request it would come in, and again when it is repeated', async () => {
    const world = await createImportWorld()
    // The first is refused by the service, and so has no id that the next could be taken for.
    await world.put('users.ndjson', [{ uid: 'BEN' }, ...users('ben', 'Ann', 'carl', 'ann', 'Ann')])
    await world.put('groups.ndjson', [...groups, { ...groups[0], guid: 'G1' }])
    for (const stored of [3, 0]) {
      const outcome = await world.run('--batch', '1')
      expect(outcome.code).toBe(1)
      expect(row(outcome, 'users')).toEqual([6, stored, 4 - stored, 2])
      expect(row(outcome, 'groups')).toEqual([2, stored === 0 ? 0 : 1, stored === 0 ? 1 : 0, 1])
      const error = { details: [{ message: 'differs from the id of an earlier record in upper and lower case only' }] }
      expect((await world.report()).toSorted((a, b) => Number(a.line) - Number(b.line))).toMatchObject([
        { kind: 'users', line: 1 },
        { kind: 'groups', line: 2, key: 'G1', error: { code: 'ERR_GUID_ALREADY_EXISTS', ...error } },
        { kind: 'users', line: 5, key: 'ann', error: { code: 'ERR_UID_ALREADY_EXISTS', ...error } },
      ])
    }
    expect(world.service.stored.users).toEqual(['ben', 'Ann', 'carl'])
  })
})

describe('parley import, when the service is in trouble', () => {
  it('waits as long as Retry-After says and goes on', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    world.service.obstacle = (_request, index) =>
      index === 0
        ? failure(503, 'ERR_MISSION_FAILED', { 'retry-after': '7' })
        : index === 1
          ? failure(429, 'ERR_TOO_MANY_REQUESTS', { 'retry-after': '40' })
          : undefined
    const outcome = await world.run()
    expect(outcome.code).toBe(0)
    expect(world.clock.slept).toEqual([7000, 40_000])
    expect(outcome.stderr).toContain('answered 503 (ERR_MISSION_FAILED: ERR_MISSION_FAILED it is); trying again')
    expect(row(outcome, 'users')).toEqual([1, 1, 0, 0])
  })

  it('sends again what was cut off, and says which records it may have stored itself', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann', 'bob'))
    await world.put('messages.ndjson', talk(2))
    world.service.obstacle = (_request, index) => (index === 0 ? 'cut' : index === 2 ? 'cut after' : undefined)
    const outcome = await world.run()
    expect(outcome.code).toBe(0)
    expect(row(outcome, 'users')).toEqual([2, 2, 0, 0])
    expect(row(outcome, 'messages')).toEqual([2, 0, 2, 0])
    expect(outcome.stdout).toContain('Already there in requests that were sent again after their answer was lost: 2.')
    expect(outcome.stdout).toContain('1 same')
  })

  it('gives up after two minutes without a good answer and says that running it again goes on', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    await world.put('messages.ndjson', talk(1))
    world.service.obstacle = ({ kind }) => (kind === 'messages' ? failure(500, 'ERR_EXCEPTION') : undefined)
    const outcome = await world.run()
    expect(outcome.code).toBe(3)
    const waited = world.clock.slept.reduce((sum, milliseconds) => sum + milliseconds, 0)
    expect(waited).toBeGreaterThan(90_000)
    expect(waited).toBeLessThanOrEqual(120_000)
    expect(outcome.stderr).toContain('answered 500')
    expect(outcome.stderr).toContain('Running the import again is safe')
    expect(row(outcome, 'users')).toEqual([1, 1, 0, 0])
    expect(row(outcome, 'messages')).toEqual([1, 0, 0, 0])
    expect(outcome.stdout).toContain('Read, but not finished: 1.')
  })

  it('gives up soon when nobody listens at the address, and says what to look at', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    const gone = await startImportService()
    await gone.close()
    const outcome = await world.run('--url', gone.url)
    expect(outcome.code).toBe(3)
    expect(outcome.stderr).toContain('cannot be reached')
    expect(outcome.stderr).toContain('Is the service running, and is this its address (--url)?')
    expect(world.clock.slept.reduce((sum, milliseconds) => sum + milliseconds, 0)).toBeLessThanOrEqual(10_000)
  })

  it('does not wait for a Retry-After that goes beyond its patience', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    world.service.obstacle = () => failure(429, 'ERR_TOO_MANY_REQUESTS', { 'retry-after': '3600' })
    expect((await world.run()).code).toBe(3)
    expect(world.clock.slept).toEqual([])
  })

  it.each([
    [401, 'AUTH_ERR_APIKEY_NOT_FOUND'],
    [403, 'AUTH_ERR_NO_ACCESS'],
  ])('stops at once at a %i', async (status, code) => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    await world.put('messages.ndjson', talk(1))
    world.service.obstacle = () => failure(status, code)
    const outcome = await world.run()
    expect(outcome.code).toBe(3)
    expect(world.service.requests).toHaveLength(1)
    expect(outcome.stderr).toContain(`does not accept the API key: ${status} ${code}`)
  })

  it('stops at once at an address where something else answers', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    world.service.obstacle = () => ({ status: 301, headers: { location: 'https://elsewhere.test/' }, body: {} })
    const outcome = await world.run()
    expect(outcome.code).toBe(3)
    expect(outcome.stderr).toContain(
      'does not answer like a Parley service: it answered 301, pointing to https://elsewhere.test/',
    )
  })

  it('finds the one record that makes a whole request unreadable', async () => {
    const world = await createImportWorld()
    const people = Array.from({ length: 40 }, (_, index) => `user${index}`)
    await world.put('users.ndjson', users(...people))
    world.service.obstacle = ({ records }) =>
      records.some(({ uid }) => uid === 'user23') ? failure(400, 'ERR_BAD_REQUEST') : undefined
    const outcome = await world.run('--concurrency', '1')
    expect(outcome.code).toBe(1)
    expect(row(outcome, 'users')).toEqual([40, 39, 0, 1])
    expect(world.service.stored.users).toEqual(people.filter((uid) => uid !== 'user23'))
    expect(await world.report()).toMatchObject([{ line: 24, key: 'user23', error: { code: 'ERR_BAD_REQUEST' } }])
    expect(outcome.stderr).toContain('a request with 40 users was refused (400 ERR_BAD_REQUEST: ERR_BAD_REQUEST it is)')
  })

  it('stops and says why when the service takes no request at all', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users(...Array.from({ length: 1000 }, (_, index) => `user${index}`)))
    world.service.obstacle = () => failure(400, 'ERR_INVALID_API_VERSION')
    const outcome = await world.run('--concurrency', '2')
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain('the service takes no users at all: 400 ERR_INVALID_API_VERSION')
    expect(world.service.requests.length).toBeLessThan(120)
  })
})

describe('parley import, interrupted', () => {
  it('finishes the requests under way, shows what is done and goes on when run again', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    await world.put('messages.ndjson', talk(100))
    world.service.obstacle = ({ kind }) => {
      if (kind === 'messages') world.stop.abort()
      return undefined
    }
    const outcome = await world.run('--batch', '10')
    expect(outcome.code).toBe(130)
    expect(world.service.stored.messages).toHaveLength(10)
    expect(row(outcome, 'messages')).toEqual([expect.any(Number), 10, 0, 0])
    expect(outcome.stderr).toContain('Running the import again is safe')
    expect(outcome.stdout).not.toContain('compared')
  })

  it('does not go on waiting for a service that is away', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    world.service.obstacle = (_request, index) => {
      if (index === 2) world.stop.abort()
      return failure(503, 'ERR_MISSION_FAILED')
    }
    expect((await world.run()).code).toBe(130)
    expect(world.service.requests).toHaveLength(3)
  })
})

describe('the comparison at the end', () => {
  it('counts conversations with further messages as more, and names those with fewer', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann', 'bob', 'zoe'))
    await world.put('messages.ndjson', [...talk(3), ...talk(2, 'ann', 'zoe'), ...talk(1, 'bob', 'zoe')])
    world.service.obstacle = ({ path: asked }) => {
      if (!asked.includes('count=true')) return undefined
      const counts = { ann_user_bob: 2, ann_user_zoe: 5, bob_user_zoe: 1, other: 9 }
      const data = Object.entries(counts).map(([conversationId, count]) => ({ conversationId, count }))
      return { status: 200, body: { data } }
    }
    const outcome = await world.run()
    expect(outcome.code).toBe(1)
    expect(outcome.stdout).toContain('3 conversations compared with the service: 1 same, 1 more')
    expect(outcome.stdout).toContain('1 fewer\n  ann_user_bob: 2 in the service, 3 in the import\n')
  })

  it('counts in pieces what the service cannot count at once', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann', 'bob'))
    const talks = [talk(30), talk(10, 'bob', 'zoe')].map((messages) =>
      messages.map((record, index) => ({ ...record, sentAt: 1_500_000_000 + index * 5_000_000 })),
    )
    await world.put('messages.ndjson', talks.flat())
    const times = talks.flat().map(({ sentAt }) => sentAt)
    let most = 8
    world.service.obstacle = ({ path: asked }) =>
      asked.includes('count=true') && times.filter(isInSpan(asked)).length > most
        ? failure(503, 'ERR_MISSION_FAILED', { 'retry-after': '2' })
        : undefined
    const outcome = await world.run()
    expect(outcome.stdout).toContain('2 conversations compared with the service: 2 same, 0 more')
    expect(outcome.code).toBe(0)

    // Two were sent in the same second, which cannot be divided any more.
    most = 1
    const rest = await world.run()
    expect(rest.stdout).toContain('The counts could not be compared with the service: ')
    expect(row(rest, 'messages')).toEqual([40, 0, 40, 0])
  })

  it('does not say that the service is away where everything was stored and only the counts cannot be had', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    await world.put('messages.ndjson', talk(3))
    world.service.obstacle = ({ path: asked }) =>
      asked.includes('count=true') ? failure(500, 'ERR_EXCEPTION') : undefined
    const outcome = await world.run()
    expect(row(outcome, 'messages')).toEqual([3, 3, 0, 0])
    expect(outcome.stdout).toContain('The counts could not be compared with the service: ')
    expect(outcome.stdout).toContain('answered 500')
    expect(outcome.code).toBe(1)
  })

  it('loses no message that shares its muid with another, also when it is run again', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann', 'bob'))
    const messages = [message('m', 'ann', 'bob'), message('m', 'ann', 'zoe'), message('m', 'bob', 'ann')]
    await world.put('messages.ndjson', [...messages, message('m', 'ann', 'bob')])
    const outcome = await world.run()
    expect(outcome.code).toBe(0)
    expect(row(outcome, 'messages')).toEqual([4, 3, 1, 0])
    expect(outcome.stdout).toContain('the muid of another message in the file: 2')
    expect(outcome.stdout).toContain('2 same')
    const stored = [...world.service.stored.messages]
    expect(stored).toEqual(['m', expect.stringMatching(/^m~[0-9a-f]{10}$/), expect.stringMatching(/^m~[0-9a-f]{10}$/)])
    const again = await world.run()
    expect(row(again, 'messages')).toEqual([4, 0, 4, 0])
    expect(world.service.stored.messages).toEqual(stored)
  })

  it('has replies and quotes name the message of their own conversation, where others have its muid too', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann', 'bob', 'zoe'))
    const messages = [
      message('1', 'ann', 'bob'),
      message('1', 'bob', 'zoe'),
      message('1', 'ann', 'zoe', { id: 17 }),
      message('2', 'zoe', 'bob', { parentMuid: '1' }),
      message('3', 'zoe', 'bob', { quotedMuid: '1' }),
      message('4', 'zoe', 'ann', { parentId: 17 }),
      message('5', 'bob', 'ann', { parentMuid: '1' }),
      message('1', 'bob', 'zoe'),
    ]
    await world.put('messages.ndjson', messages)
    for (const stored of [7, 0]) {
      world.service.requests.length = 0
      const outcome = await world.run()
      expect(row(outcome, 'messages')).toEqual([8, stored, 8 - stored, 0])
      const sent = world.service.requests.flatMap(({ kind, records }) => (kind === 'messages' ? records : []))
      const muidOf = (...people: string[]) =>
        new Set(
          sent
            .filter(({ data, sender, receiver }) => {
              const { text } = data as { text: string }
              return text === 'text of 1' && people.includes(String(sender)) && people.includes(String(receiver))
            })
            .map(({ muid }) => String(muid)),
        )
      expect([...muidOf('ann', 'bob')]).toEqual(['1'])
      const [ofBobAndZoe, ofAnnAndZoe] = [[...muidOf('bob', 'zoe')], [...muidOf('ann', 'zoe')]]
      expect([ofBobAndZoe, ofAnnAndZoe]).toEqual(Array(2).fill([expect.stringMatching(/^1~[0-9a-f]{10}$/)]))
      const named = sent.filter(({ muid }) => /^[2-5]$/.test(String(muid)))
      expect(named.toSorted((one, other) => Number(one.muid) - Number(other.muid))).toMatchObject([
        { muid: '2', parentMuid: ofBobAndZoe[0] },
        { muid: '3', quotedMuid: ofBobAndZoe[0] },
        { muid: '4', parentMuid: ofAnnAndZoe[0] },
        { muid: '5', parentMuid: '1' },
      ])
    }
    const dry = await world.run('--dry-run')
    expect(dry.stdout).toMatch(/messages +8 +7 +0 +1 +0\n/)
  })

  it('refuses a message whose muid the service has of another one', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann', 'bob'))
    await world.put('messages.ndjson', [message('m', 'ann', 'bob')])
    world.service.obstacle = (request) =>
      request.kind === 'messages'
        ? {
            status: 200,
            body: {
              data: {
                m: {
                  success: false,
                  error: {
                    code: 'ERR_IMPORT_MUID_ALREADY_EXISTS',
                    details: [{ path: 'muid', message: 'belongs to another message' }],
                  },
                },
              },
            },
          }
        : undefined
    const outcome = await world.run()
    expect(outcome.code).toBe(1)
    expect(row(outcome, 'messages')).toEqual([1, 0, 0, 1])
  })

  it('compares ids in lower case', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('Zoe'))
    await world.put('messages.ndjson', [message('m', 'Zoe', 'ann')])
    const outcome = await world.run()
    expect(outcome.stdout).toContain('1 same')
  })
})

describe('the input of parley import', () => {
  it('is sent up to the place where a file is damaged', async () => {
    const world = await createImportWorld()
    const text = users(
      ...Array.from({ length: 5000 }, (_, index) => `user-${index}-${Math.sin(index)}`.replaceAll('.', '_')),
    )
      .map((record) => `${JSON.stringify(record)}\n`)
      .join('')
    const whole = gzipSync(text)
    await world.put('users.ndjson.gz', whole.subarray(0, Math.floor(whole.length / 2)))
    const outcome = await world.run()
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toMatch(/users\.ndjson\.gz cannot be read to its end: unexpected end of file/)
    expect(world.service.stored.users.length).toBeGreaterThan(1000)
  })

  it.each([
    ['is no folder', async (world: Awaited<ReturnType<typeof createImportWorld>>) => world.run('further')],
    ['has no files', async (world: Awaited<ReturnType<typeof createImportWorld>>) => world.run()],
    [
      'has a file both plain and gzipped',
      async (world: Awaited<ReturnType<typeof createImportWorld>>) => {
        await world.put('users.ndjson', '')
        await world.put('users.ndjson.gz', '')
        return world.run()
      },
    ],
    [
      'would be overwritten by the report',
      async (world: Awaited<ReturnType<typeof createImportWorld>>) => {
        await world.put('users.ndjson', users('ann'))
        return world.run('--report', 'users.ndjson')
      },
    ],
  ])('ends with 2 when it %s', async (_what, run) => {
    const world = await createImportWorld()
    const outcome = await run(world)
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain('parley import: ')
    expect(world.service.requests).toEqual([])
  })
})

describe('parley import over TLS', () => {
  it('accepts a self-signed certificate only when it is told to', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('ann'))
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 })
    const service = await startImportService({ key, cert })
    onTestFinished(() => service.close())
    const strict = await world.run('--url', service.url)
    expect(strict.code).toBe(3)
    expect(strict.stderr).toContain('--insecure')
    expect(service.requests).toEqual([])
    expect((await world.run('--url', service.url, '--insecure')).code).toBe(0)
    expect(service.stored.users).toEqual(['ann'])
  })
})
