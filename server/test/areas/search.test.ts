import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { groupText, importWell, text } from '../support/imports.ts'
import { entriesOf, find, indexed, withoutIndex } from '../support/search.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** What is said, and what finds it. */
const found: ReadonlyArray<readonly [string, readonly string[]]> = [
  [
    'Hello World, how are you?',
    ['hello', 'WORLD', 'ello wor', 'h', 'u?', 'you', '?', ',', 'Hello World, how are you?'],
  ],
  ['The central  limit\n theorem', ['central limit', 'limit theorem', ' theorem ', 'limit  theorem', 'm']],
  ['今天天气很好', ['天', '今', '好', '天气', '今天', '很好', '天天', '天气很', '今天天气很好']],
  ['我说ok了', ['ok', '说ok', 'ok了', 'k了', '了', 'O']],
  ['カラオケに行こう', ['カラ', 'ｶﾗｵｹ', '行', 'に行こ', 'う', 'オケに']],
  ['서울에서 만나요', ['서', '서울', '울에', '만나요', '서 만']],
  ['สวัสดีครับ', ['สวัส', 'ดีครับ', 'ครับ', 'บ', 'ส']],
  ['مرحبا بالعالم', ['مرحبا', 'عالم', 'م', 'با بال']],
  ['ﻣﺮﺣﺒﺎ', ['مرحبا']],
  ['Привет, мир', ['ПРИВЕТ', 'мир', 'вет, м', 'т,']],
  ['İSTANBUL ve Iğdır', ['istanbul', 'İstanbul', 'ISTANBUL', 'ıstan', 'iğdır', 'IĞDIR', 'Iğdır']],
  ['Die Straße', ['straße', 'STRASSE', 'strasse', 'STRAẞE', 'ß', 'ss']],
  ['ΟΔΟΣ ΑΘΗΝΩΝ', ['οδος', 'οδοσ', 'ΟΔΟΣ', 'ος αθ', 'αθηνών'.normalize('NFD').replace(/\u0301/g, '')]],
  ['ＦＵＬＬ　ｗｉｄｔｈ １２３', ['full width', 'FULL', '123', 'ｗｉｄ', 'h 1']],
  ['cafe\u0301 ﬁnal', ['café', 'CAFÉ', 'final', 'é f', 'FI']],
  ['good 👍🏽 ❤️ 👨‍👩‍👧', ['👍', '👍🏽', '❤', '❤️', '👨', '👩‍👧', '👨‍👩‍👧', 'd 👍']],
  ['soft\u00adhyphen and zero\u200bwidth', ['softhyphen', 'zerowidth', 'soft\u00adhy']],
  ["it's 100% \\ a_b 'x' \"y\" & | ! : * (z) <@uid:bob>", ["it's", '%', '0%', '\\', 'a_b', "'x'", '"y"', '& | ! : *']],
  ['(z) <@uid:bob> #tag $5 www.example.com/a?b=c', ['(z)', '<@uid:bob>', '@uid', '#tag', '$', 'example.com/a?b']],
  ['x', ['x', 'X', 'ｘ']],
  ['...', ['.', '..', '...']],
]

/** What does not find what is said, though it looks like it. */
const notFound: ReadonlyArray<readonly [string, readonly string[]]> = [
  ['abcd bcde', ['abcde', 'abd', 'ba', 'abcd  cde', 'e a']],
  ['天气今天', ['今天天气', '气天', '今气', '明']],
  ['100 percent', ['%', '1_0', '1%t', '100%', '*', '10 0']],
  ['cafe', ['café', 'CAFÉ']],
  ['Straße', ['strase', 's s']],
  ['in one word', ['inone', 'oneword', "'", '\\']],
]

const createTalk = async (...others: string[]) => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', ...others)
  return world
}

const sayAll = async (world: World, sayings: readonly string[]) => {
  for (const saying of sayings) await say(world, 'alice', 'bob', saying)
}

describe('Searching messages', () => {
  const expectAll = async (world: World) => {
    for (const [said, keys] of found) {
      for (const key of keys) expect(await find(world, key), `${key} finds ${said}`).toContain(said)
    }
    for (const [said, keys] of notFound) {
      for (const key of keys) expect(await find(world, key), `${key} does not find ${said}`).not.toContain(said)
    }
  }
  const all = [...found, ...notFound].map(([said]) => said)

  it('finds words and parts of words in every script right after they were sent', async () => {
    const world = await createTalk()
    await withoutIndex(world, async () => {
      await sayAll(world, all)
      await expectAll(world)
      expect([...(await entriesOf(world)).values()]).toEqual([])
    })
  })

  it('finds them in the index', async () => {
    const world = await createTalk()
    await sayAll(world, all)
    await indexed(world)
    expect((await entriesOf(world)).size).toBe(all.length)
    await expectAll(world)
  })

  it('finds exactly the messages that contain the text, whatever both are', async () => {
    const world = await createTalk()
    const random = seeded(20_261_120)
    const alphabet = [...'abAB 天气今ｂß?é👍ก.']
    const pick = (length: number) =>
      Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)] as string).join('')
    const sayings = Array.from({ length: 150 }, () => `${pick(1 + Math.floor(random() * 12))}-`)
    await importWell(
      world,
      'messages',
      sayings.map((said, i) => text(`m${i}`, 'alice', 'bob', 1_600_000_000 + i, { data: { text: said } })),
    )
    await indexed(world)
    const late = Array.from({ length: 30 }, () => `${pick(8)}-`)
    await withoutIndex(world, async () => {
      await sayAll(world, late)
      const fold = (words: string) => words.normalize('NFKC').toUpperCase().toLowerCase().replace(/\s+/g, ' ').trim()
      for (let i = 0; i < 150; i++) {
        const key = pick(1 + Math.floor(random() * 4))
        const expected = [...sayings, ...late].filter((said) => fold(said).includes(fold(key)))
        expect(await find(world, key), JSON.stringify(key)).toEqual(expected)
      }
    })
  })

  it('looks into captions, and not into names, tags, files or actions', async () => {
    const world = await createTalk()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const file = { url: 'https://example.com/wombat.png', name: 'wombat.png' }
    const send = (body: object) =>
      world.post('/messages', { receiver: 'bob', receiverType: 'user', ...body }, { as: 'alice' })
    dataOf(await send({ type: 'image', data: { text: 'my wombat', attachments: [file] } }))
    dataOf(await send({ type: 'image', data: { attachments: [file] } }))
    dataOf(await send({ data: { text: 'hi', metadata: { k: 'wombat' } }, tags: ['wombat'] }))
    dataOf(await send({ category: 'custom', type: 'wombat', data: { customData: { k: 'wombat' } } }))
    dataOf(await send({ category: 'custom', type: 'poll', data: { text: 'wombat poll', customData: { k: 1 } } }))
    dataOf(await world.put('/users/bob', { name: 'Wombat' }))
    dataOf(await world.post('/groups/team/members', { participants: ['bob'] }))
    expect(await find(world, 'wombat')).toEqual(['my wombat', 'wombat poll'])
    await indexed(world)
    expect(await find(world, 'wombat')).toEqual(['my wombat', 'wombat poll'])
  })

  it('takes blanks alone for no search, and refuses what is longer than a message would be', async () => {
    const world = await createTalk()
    await sayAll(world, ['one', 'two'])
    expect(await find(world, '  ')).toEqual(['one', 'two'])
    expect(await find(world, '')).toEqual(['one', 'two'])
    expect(await find(world, 'x'.repeat(1000))).toEqual([])
    expect(refusal(await world.get(`/messages?searchKey=${'x'.repeat(1001)}`))).toBe('400 ERR_BAD_REQUEST')
  })

  it('finds a long text by a long part of it', async () => {
    const world = await createTalk()
    const long = Array.from({ length: 300 }, (_, i) => `word${i} 字${String.fromCodePoint(0x4e00 + i)}`).join(' ')
    await sayAll(world, [long, `${long.slice(0, 900)} and else`])
    await indexed(world)
    expect(await find(world, long.slice(0, 900))).toHaveLength(2)
    expect(await find(world, long.slice(10, 1010))).toEqual([long])
  })
})

describe('What a search finds', () => {
  const createHay = async () => {
    const world = await createTalk('carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    for (let i = 0; i < 7; i++) {
      await say(world, 'alice', 'bob', `hay ${i}`, i % 2 === 0 ? { tags: ['even'] } : {})
      await sayInGroup(world, i % 2 === 0 ? 'bob' : 'carol', 'team', `hay in group ${i}`)
      await say(world, 'bob', 'carol', `other ${i}`)
    }
    return world
  }

  it('is a message list: with pages in both directions, filters, orders and counts', async () => {
    const world = await createHay()
    await indexed(world)
    const inGroup = Array.from({ length: 7 }, (_, i) => `hay in group ${i}`)
    expect(await find(world, 'hay', '/groups/team/messages')).toEqual(inGroup)
    expect(await find(world, 'hay', '/groups/team/messages?sender=carol')).toEqual([1, 3, 5].map((i) => inGroup[i]))
    expect(await find(world, 'hay', '/messages?receiverType=user&tags=even')).toEqual(
      [0, 2, 4, 6].map((i) => `hay ${i}`),
    )
    expect(await find(world, 'hay', '/users/bob/messages', 'alice')).toHaveLength(7)
    expect(await find(world, 'hay', '/users/carol/messages')).toEqual([1, 3, 5].map((i) => inGroup[i]))
    expect(await find(world, '1', '/messages?conversationId=group_team')).toEqual(['hay in group 1'])

    for (const affix of ['append', 'prepend']) {
      const pages: string[][] = []
      let query = `searchKey=hay&limit=3&affix=${affix}`
      for (;;) {
        const page = await world.get(`/groups/team/messages?${query}`, { as: 'bob' })
        pages.push(texts(page))
        const { meta } = page.body
        const onward = affix === 'append' ? meta.next : meta.previous
        expect(meta.cursor).toMatchObject({ affix })
        expect(meta[affix === 'append' ? 'previous' : 'next'] === undefined).toBe(pages.length === 1)
        if (onward === undefined) break
        query = `searchKey=hay&limit=3&affix=${onward.affix}&id=${onward.id}&sentAt=${onward.sentAt}`
      }
      expect(pages.map(({ length }) => length)).toEqual([3, 3, 1])
      expect((affix === 'append' ? pages : pages.reverse()).flat()).toEqual(inGroup)
    }

    const count = async (path: string, as?: string) => dataOf(await world.get(path, as === undefined ? {} : { as }))
    expect(await count('/messages?searchKey=HAY&count=1')).toEqual([
      { conversationId: 'alice_user_bob', count: 7 },
      { conversationId: 'group_team', count: 7 },
    ])
    expect(await count('/messages?searchKey=hay&count=1&unread=1', 'carol')).toEqual([
      { entityId: 'team', entityType: 'group', count: 1 },
    ])
    expect(await count('/messages?searchKey=nothing&count=1', 'carol')).toEqual([])
  })

  it('is what the acting user may see', async () => {
    const world = await createHay()
    await createGroup(world, 'secret', 'alice', {}, { type: 'private' })
    await sayInGroup(world, 'alice', 'secret', 'hay in secret')
    const ofBob = async () => (await find(world, 'hay', '/messages', 'bob')).length
    for (const state of ['before it is in the index', 'in the index']) {
      expect(await ofBob(), state).toBe(14)
      expect(await find(world, 'hay', '/messages', 'carol'), state).toHaveLength(7)
      expect(await find(world, 'hay', '/messages', 'alice'), state).toHaveLength(15)
      expect(await find(world, 'secret', '/messages', 'bob'), state).toEqual([])
      expect(await find(world, 'hay', '/users/carol/messages', 'alice'), state).toEqual([])
      await indexed(world)
    }
    dataOf(await world.delete('/users/alice/conversation', undefined, { as: 'bob' }))
    expect(await ofBob()).toBe(7)
    dataOf(await world.delete('/groups/team/members', undefined, { as: 'bob' }))
    expect(await ofBob()).toBe(0)
    expect(await find(world, 'hay', '/users/bob/messages', 'alice')).toHaveLength(7)
    expect(refusal(await world.get('/groups/team/messages?searchKey=hay', { as: 'bob' }))).toBe(
      '403 ERR_GROUP_NOT_JOINED',
    )
  })

  it('stays in the app', async () => {
    const [one, two] = [await createTalk(), await createTalk()]
    await say(one, 'alice', 'bob', 'a pangolin')
    await indexed(one)
    expect(await find(two, 'pangolin')).toEqual([])
    expect(await find(two, 'p')).toEqual([])
    await say(two, 'alice', 'bob', `${one.app.appId}:pangolin '${one.app.appId}:ang'`)
    await indexed(two)
    expect(await find(one, 'ang')).toEqual(['a pangolin'])
  })

  it('is found by the reply in its thread too', async () => {
    const world = await createTalk()
    const parent = await say(world, 'alice', 'bob', 'parent hay')
    for (const words of ['reply hay', 'reply straw']) {
      dataOf(await world.post(`/messages/${parent.id}/thread`, { data: { text: words } }, { as: 'bob' }))
    }
    await indexed(world)
    expect(await find(world, 'hay', `/messages/${parent.id}/thread`, 'alice')).toEqual(['reply hay'])
    expect(await find(world, 'hay', `/messages/${parent.id}/thread`)).toEqual(['reply hay'])
    expect(await find(world, 'hay', '/messages?hideReplies=1')).toEqual(['parent hay'])
  })
})

describe('A search that finds thousands', () => {
  const total = 7000
  const name = (i: number) => `${i % 2 === 0 ? 'hay' : '干草'} ${i}${i % 100 === 0 ? ' needle' : ''}`

  /** Alice talks with bob and in a group, in turns; every hundredth message has a needle in it. */
  const createBarn = async () => {
    const world = await createTalk('carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    for (let start = 0; start < total; start += 1000) {
      const records = Array.from({ length: 1000 }, (_, k) => {
        const i = start + k
        const data = { text: `x ${name(i)}` }
        return i % 4 < 2
          ? text(`m${i}`, 'alice', 'bob', 1_600_000_000 + i, { data })
          : groupText(`m${i}`, 'alice', 'team', 1_600_000_000 + i, { data })
      })
      await importWell(world, 'messages', records)
    }
    return world
  }
  const all = Array.from({ length: total }, (_, i) => `x ${name(i)}`)

  it('pages, counts and narrows as exactly as one that finds few', async () => {
    const world = await createBarn()
    await indexed(world)
    await say(world, 'alice', 'bob', 'x late')
    const newest = async (path: string, key: string, as?: string) => {
      const query = `searchKey=${encodeURIComponent(key)}&limit=5&affix=prepend`
      return texts(await world.get(`${path}${path.includes('?') ? '&' : '?'}${query}`, as === undefined ? {} : { as }))
    }
    const withBob = all.filter((_, i) => i % 4 < 2)
    const inTeam = all.filter((_, i) => i % 4 >= 2)
    for (const as of [undefined, 'alice']) {
      expect(await newest('/messages', 'x', as)).toEqual([...all.slice(-4), 'x late'])
      expect(await newest('/messages', 'X ', as)).toEqual([...all.slice(-4), 'x late'])
      expect(await newest('/groups/team/messages', 'x', as)).toEqual(inTeam.slice(-5))
      expect(await newest('/messages?category=custom', 'x', as)).toEqual([])
    }
    expect(await newest('/users/bob/messages', 'x', 'alice')).toEqual([...withBob.slice(-4), 'x late'])
    expect(await newest('/users/alice/messages', 'x')).toEqual([...all.slice(-4), 'x late'])
    expect(await newest('/messages', 'x', 'bob')).toEqual([...all.slice(-4), 'x late'])
    expect(await newest('/messages', 'x', 'carol')).toEqual([])
    expect(await find(world, '00 needle', '/messages', 'bob')).toEqual(all.filter((said) => said.endsWith('00 needle')))
    expect(await newest('/messages', '干')).toEqual(all.filter((said) => said.includes('干')).slice(-5))

    const count = async (key: string, as?: string) => {
      const url = `/messages?count=1&searchKey=${encodeURIComponent(key)}`
      const rows: Array<{ count: number }> = dataOf(await world.get(url, as === undefined ? {} : { as }))
      return rows.map((row) => row.count)
    }
    for (const as of [undefined, 'alice', 'bob']) {
      expect(await count('x', as)).toEqual([3501, 3500])
      expect(await count('草', as)).toEqual([1750, 1750])
    }
    expect(await count('x', 'carol')).toEqual([])

    const walked: string[] = []
    let query = 'searchKey=x&limit=1000'
    for (;;) {
      const page = await world.get(`/messages?${query}`, { as: 'bob' })
      walked.push(...texts(page))
      const { next } = page.body.meta
      if (next === undefined) break
      query = `searchKey=x&limit=1000&affix=append&id=${next.id}&sentAt=${next.sentAt}`
    }
    expect(walked).toEqual([...all, 'x late'])

    // Nothing of it lies near the end any more.
    const quiet = Array.from({ length: 1100 }, (_, i) =>
      text(`quiet${i}`, 'alice', 'bob', 1_700_000_000 + i, { data: { text: `silence ${i}` } }),
    )
    await importWell(world, 'messages', quiet.slice(0, 1000))
    await importWell(world, 'messages', quiet.slice(1000))
    for (const as of [undefined, 'alice', 'bob']) {
      expect(await newest('/messages', 'x', as)).toEqual([...all.slice(-4), 'x late'])
      expect(await newest('/messages', 'silence', as)).toEqual([
        'silence 1095',
        'silence 1096',
        'silence 1097',
        'silence 1098',
        'silence 1099',
      ])
    }
    expect(await newest('/users/bob/messages', 'x', 'alice')).toEqual([...withBob.slice(-4), 'x late'])
    expect(await newest('/users/alice/messages', 'x')).toEqual([...all.slice(-4), 'x late'])
  })

  it('is the same for who takes part in hundreds of conversations', async () => {
    const world = await createTalk()
    const peers = Array.from({ length: 520 }, (_, i) => `peer${i}`)
    await importWell(
      world,
      'users',
      peers.map((uid) => ({ uid, name: uid })),
    )
    await importWell(
      world,
      'messages',
      peers.map((uid, i) => text(`p${i}`, uid, 'alice', 1_600_000_000 + i, { data: { text: `ab 干草 ${uid}` } })),
    )
    await importWell(
      world,
      'messages',
      peers.map((uid, i) => text(`q${i}`, uid, 'bob', 1_600_000_000 + i, { data: { text: `ab 干草 ${uid} to bob` } })),
    )
    await indexed(world)
    const expected = peers.map((uid) => `ab 干草 ${uid}`)
    for (const key of ['a', '干', '干草', 'ab 干草 peer']) {
      expect(await find(world, key, '/messages', 'alice'), key).toEqual(expected)
      const counts: Array<{ count: number }> = dataOf(
        await world.get(`/messages?count=1&searchKey=${encodeURIComponent(key)}`, { as: 'alice' }),
      )
      expect(counts.map(({ count }) => count)).toEqual(peers.map(() => 1))
    }
    expect(await find(world, 'peer51', '/messages', 'alice')).toHaveLength(11)
    // Of one less than the limit: asked one by one.
    for (const uid of peers.slice(0, 30)) {
      dataOf(await world.delete(`/users/${uid}`, { permanent: true }))
    }
    for (const key of ['a', '干', '干草']) {
      expect(await find(world, key, '/messages', 'alice'), key).toEqual(expected.slice(30))
    }
  })
})

describe('A message that is changed', () => {
  it('is found by what it says now', async () => {
    const world = await createTalk()
    const edit = async (id: string, data: object) =>
      dataOf(await world.put(`/messages/${id}`, { data }, { as: 'alice' }))
    const first = await say(world, 'alice', 'bob', 'first words')
    await indexed(world)
    await edit(first.id, { text: 'second saying' })
    expect(await find(world, 'words')).toEqual([])
    expect(await find(world, 'second')).toEqual(['second saying'])
    await edit(first.id, { metadata: { k: 1 } })
    expect(await find(world, 'second')).toEqual(['second saying'])

    await withoutIndex(world, async () => {
      const late = await say(world, 'alice', 'bob', 'late words')
      await edit(late.id, { text: 'later saying' })
      expect(await find(world, 'words')).toEqual([])
      expect(await find(world, 'saying')).toEqual(['second saying', 'later saying'])
    })
    await indexed(world)
    expect(await find(world, 'words')).toEqual([])
    expect(await find(world, 'saying')).toEqual(['second saying', 'later saying'])
  })

  it('is not found any more when its caption is gone', async () => {
    const world = await createTalk()
    const body = {
      receiver: 'bob',
      receiverType: 'user',
      type: 'image',
      data: { text: 'caption', url: 'https://a.example/b' },
    }
    const withdraw = async (id: string) =>
      dataOf(await world.put(`/messages/${id}`, { data: { text: '' } }, { as: 'alice' }))
    const early = dataOf(await world.post('/messages', body, { as: 'alice' }))
    await indexed(world)
    await withdraw(early.id)
    await withoutIndex(world, async () => {
      const late = dataOf(await world.post('/messages', body, { as: 'alice' }))
      await withdraw(late.id)
      expect(await find(world, 'caption')).toEqual([])
    })
    await indexed(world)
    expect(await find(world, 'caption')).toEqual([])
    expect([...(await entriesOf(world)).values()].filter((entry) => entry !== '')).toEqual([])
  })
})

describe('A message that is gone', () => {
  const nothingOf = async (world: World, word: string) => {
    const rows = await world.context.database.run(sql`
      select from search_entries e
      where e.app_id = ${world.app.appId}
      and (strpos(e.body, ${word}) > 0 or strpos(e.grams::text, ${word.slice(0, 3)}) > 0)`)
    expect(rows).toEqual([])
    expect(await find(world, word)).toEqual([])
  }

  /** Ways in which a message of alice to bob, or in the group, is removed. */
  const ways: Array<readonly [string, (world: World, ids: { direct: string; group: string }) => Promise<void>]> = [
    [
      'softly',
      async (world, { direct, group }) => {
        for (const id of [direct, group]) dataOf(await world.delete(`/messages/${id}`, undefined, { as: 'alice' }))
      },
    ],
    [
      'for good',
      async (world, { direct, group }) => {
        for (const id of [direct, group]) dataOf(await world.delete(`/messages/${id}`, { permanent: true }))
      },
    ],
    [
      'with its conversation and its group',
      async (world) => {
        const url = '/users/alice/conversation'
        dataOf(await world.delete(url, { conversationWith: 'bob', deleteMessagesPermanently: true }, { as: 'bob' }))
        dataOf(await world.delete('/groups/team'))
      },
    ],
    [
      'with its sender and its group',
      async (world) => {
        dataOf(await world.delete('/users/alice', { permanent: true }))
        dataOf(await world.delete('/groups/team'))
      },
    ],
  ]

  it.each(ways)('%s leaves nothing in the index, whether it had come there or not', async (_, remove) => {
    const make = async () => {
      const world = await createTalk()
      await createGroup(world, 'team', 'bob', { participants: ['alice'] })
      const direct = await say(world, 'alice', 'bob', 'quokka direct')
      const group = await sayInGroup(world, 'alice', 'team', 'quokka in group')
      return { world, ids: { direct: direct.id, group: group.id } }
    }
    const early = await make()
    await indexed(early.world)
    expect(await find(early.world, 'quokka')).toHaveLength(2)
    await remove(early.world, early.ids)
    await nothingOf(early.world, 'quokka')
    expect((await entriesOf(early.world)).size).toBe(0)

    const late = await withoutIndex(early.world, async () => {
      const made = await make()
      expect(await find(made.world, 'quokka')).toHaveLength(2)
      await remove(made.world, made.ids)
      await nothingOf(made.world, 'quokka')
      return made
    })
    await indexed(late.world)
    await nothingOf(late.world, 'quokka')
    expect((await entriesOf(late.world)).size).toBe(0)
  })
})

/** Numbers from 0 to 1 that look random and are the same each time. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
