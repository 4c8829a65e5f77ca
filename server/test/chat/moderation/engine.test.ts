import { describe, expect, it } from 'vitest'
import { builtInLists } from '../../../src/chat/moderation/engine/built-in-lists.ts'
import { compileEngine } from '../../../src/chat/moderation/engine/engine.ts'
import { foldText } from '../../../src/chat/moderation/engine/fold.ts'
import { Folding } from '../../../src/chat/moderation/engine/folded.ts'
import { shareTerms } from '../../../src/chat/moderation/engine/shared.ts'
import { flawOfTerms } from '../../../src/chat/moderation/engine/terms.ts'
import { createTraffic } from '../../../src/chat/moderation/engine/traffic.ts'
import type { Condition, JudgedMessage, ListRevision, RuleRevision } from '../../../src/chat/moderation/model.ts'

const alice = { uid: 'alice', name: 'Alice', role: 'default', tags: ['new'], createdAt: 1_700_000_000 }
const bob = { uid: 'bob', name: 'Bob', role: 'staff', tags: [], createdAt: 1_600_000_000 }
const garden = { guid: 'garden', name: 'Garden', type: 'public', tags: [], createdAt: 1_650_000_000 }

function message(text: string, changes: Partial<JudgedMessage> = {}): JudgedMessage {
  return {
    kind: 'user',
    category: 'message',
    type: 'text',
    text,
    custom: '',
    files: [],
    sender: alice,
    receiver: bob,
    ...changes,
  }
}

function condition(changes: Partial<Condition>): Condition {
  return {
    id: 1,
    operand: 'text',
    category: 'word',
    operator: 'contains',
    value: ['damn'],
    isListed: false,
    ...changes,
  }
}

function rule(changes: Partial<RuleRevision>): RuleRevision {
  return {
    ruleId: 'rule',
    name: 'Rule',
    revision: 1,
    mode: 'on',
    filters: [],
    conditions: [condition({})],
    exceptions: [],
    actions: ['blockMessage'],
    ...changes,
  }
}

const list = (changes: Partial<ListRevision>): ListRevision => ({
  listId: 'words',
  revision: 3,
  category: 'word',
  terms: ['damn', 'pen island', 'ass'],
  ...changes,
})

/** What of a text one condition finds. */
async function found(changes: Partial<Condition>, text: string, lists: ListRevision[] = []) {
  const engine = await compileEngine([rule({ conditions: [condition(changes)] })], lists)
  return engine.judge(message(text)).hits.map(({ match }) => match?.text)
}

describe('Words', () => {
  it('are found whatever their case, width, marks and leet, at their place in the original', async () => {
    const listed = { isListed: true, value: ['words'] }
    expect(await found(listed, 'well DAMN it', [list({})])).toEqual(['DAMN'])
    expect(await found(listed, 'well ｄａｍｎ it', [list({})])).toEqual(['ｄａｍｎ'])
    expect(await found(listed, 'well dámn it', [list({})])).toEqual(['dámn'])
    expect(await found(listed, 'well d4mn it', [list({})])).toEqual(['d4mn'])
    expect(await found(listed, 'well da\u200bmn it', [list({})])).toEqual(['da\u200bmn'])
    expect(await found(listed, 'well daaaamn it', [list({})])).toEqual(['daaaamn'])
    expect(await found(listed, 'the a$$ of it', [list({})])).toEqual(['a$$'])
  })

  it('are not found inside other words, across blanks, or in numbers', async () => {
    const listed = { isListed: true, value: ['words'] }
    for (const text of ['assassin', 'da mn', 'penisland', '455', 'as a matter', 'pen. island? no: penis land'])
      expect([text, await found(listed, text, [list({ terms: ['damn', 'ass', 'penis'] })])]).toEqual([
        text,
        text.includes('penis land') ? ['penis'] : [],
      ])
  })

  it('need no blanks around them in scripts without blanks', async () => {
    expect(await found({ value: ['笨蛋'] }, '你是笨蛋吗')).toEqual(['笨蛋'])
    expect(await found({ value: ['damn'] }, '你damn笨')).toEqual(['damn'])
  })

  it('keep the signs around them that mean something, and lose quotes', async () => {
    expect(await found({ value: ['c++'] }, 'I like C++ more than c')).toEqual(['C++'])
    expect(await found({ value: ['c++'] }, 'a b c + d')).toEqual([])
    expect(await found({ value: ['c', 'c++'] }, 'plan c')).toEqual(['c'])
    expect(await found({ value: ['#turnip'] }, 'a turnip, #Turnip')).toEqual(['#Turnip'])
    expect(await found({ value: ['"turnip"'] }, 'a turnip')).toEqual(['turnip'])
  })

  it('of the same letters, more or less often repeated, are compared as far as a message may take', async () => {
    const numbers = Array.from({ length: 97 }, (_, index) => index + 1)
    const all = numbers.flatMap((a) => numbers.map((b) => `${'a'.repeat(a)}${'b'.repeat(b)}cc`))
    const terms = [...all.filter(({ length }) => length <= 100), 'damn']
    const rules = [rule({ conditions: [condition({ isListed: true, value: ['words'] })] })]
    const engine = await compileEngine(rules, [list({ terms })])
    expect(engine.judge(message('aabc or aabbcc')).hits.map(({ match }) => match?.text)).toEqual(['aabbcc'])
    expect(engine.judge(message('abc '.repeat(2_400)))).toMatchObject({ cut: 1, hits: [] })
    expect(engine.judge(message('damn abc'))).toMatchObject({ cut: 0, hits: [{ match: { text: 'damn' } }] })
  })

  it('that are exceptions may overlap', async () => {
    const excepted = rule({
      exceptions: ['天地', '地天', '地天地'],
      conditions: [condition({ value: ['天', '地', 'x'] })],
    })
    const engine = await compileEngine([excepted], [])
    const startsIn = (text: string) => engine.judge(message(text)).hits.map(({ match }) => match?.start)
    expect(startsIn('天地天地')).toEqual([])
    expect(startsIn('地天地天')).toEqual([])
    expect(startsIn('天 天地')).toEqual([0])
    expect(startsIn('天地 x 地天')).toEqual([3])
    expect(startsIn('天地地天x地')).toEqual([4])
  })

  it('are not made up of what two words may mean, nor of singles that are numbers', async () => {
    expect(await found({ value: ['lie'] }, 'at 1 1 3 o’clock')).toEqual([])
    expect(await found({ value: ['hell', 'its'] }, "he'll see, it's him")).toEqual([])
    expect(await found({ value: ['bib ll'] }, 'b1b 11 b')).toEqual([])
    expect(await found({ value: ['ham'] }, 'i h a m m e r')).toEqual([])
  })

  it('of other scripts stay themselves, whatever their letters look like', async () => {
    expect(await found({ value: ['вор'] }, 'Это ВОР!')).toEqual(['ВОР'])
    expect(await found({ value: ['сука'] }, 'ну сyкa же')).toEqual(['сyкa'])
    expect(await found({ value: ['damn'] }, 'ԁаmn')).toEqual(['ԁаmn'])
    expect(await found({ value: ['バカ'] }, 'ﾊﾞｶだ')).toEqual(['ﾊﾞｶ'])
    expect(await found({ value: ['한글'] }, '한글 하나')).toEqual(['한글'])
  })

  it('cost no more than the text is long, whatever it is made of', () => {
    const [plain, leet] = ['word ', '!1|I '].map((part) => foldText(part.repeat(2000)).length)
    expect(leet! / plain!).toBeLessThan(5)
    expect(foldText('a.'.repeat(5000)).length).toBeLessThan(50_000)
    expect(foldText('\ufdfa'.repeat(2000)).proper).toBeGreaterThan(10_000)
  })

  it('are found behind ligatures that each spell a whole sentence, however many there are', async () => {
    for (const count of [53, 500, 5000]) {
      const text = `${'\ufdfa'.repeat(count)} ${'hello '.repeat(2 * count)}you are a badword`
      expect([count, await found({ value: ['badword'] }, text)]).toEqual([count, ['badword']])
    }
  })

  it('are the whole text where the operator says so', async () => {
    expect(await found({ operator: 'equals' }, ' Damn! ')).toEqual([' Damn! '])
    expect(await found({ operator: 'equals' }, 'damn it')).toEqual([])
  })
})

describe('Folding', () => {
  const texts = [
    'short',
    'a l0ng!er One, with |ds AssHoIe',
    '你好 ＤＡＭＮ ½ \u0301x',
    'f u c k '.repeat(300),
    '',
    'dámn it',
  ]

  it('uses its room again, and gives the same whatever was there before', () => {
    const used = new Folding()
    for (const text of [...texts, ...texts.toReversed()]) {
      const [again, fresh] = [foldText(text, used), foldText(text, new Folding())].map((folded) => {
        const { length, proper, codes, runs, starts, ends } = folded
        return { text: folded.text, proper, all: [codes, runs, starts, ends].map((each) => [...each.slice(0, length)]) }
      })
      expect(again).toEqual(fresh)
    }
  })

  it('keeps the texts of one message apart, also where exceptions are taken out of them', async () => {
    const conditions = [condition({ value: ['tea'] }), condition({ id: 2, operand: 'custom', value: ['coffee'] })]
    const rules = [rule({ exceptions: ['damn fine tea'], conditions }), rule({ ruleId: 'other', conditions })]
    const engine = await compileEngine(rules, [])
    for (const custom of ['much COFFEE', 'c0ffee '.repeat(300), '']) {
      const { hits } = engine.judge(message('a damn fine tea', { custom }))
      expect(hits.map(({ rule, match }) => [rule.ruleId, match?.in, match?.start])).toEqual(
        [
          ['rule', 'custom', custom.toLowerCase().search(/c[o0]/)],
          ['other', 'text', 12],
          ['other', 'custom', custom.toLowerCase().search(/c[o0]/)],
        ].filter(([, where]) => where === 'text' || custom !== ''),
      )
    }
  })
})

describe('Rules', () => {
  it('name what was met, and the revision of the list', async () => {
    const engine = await compileEngine(
      [rule({ conditions: [condition({ isListed: true, value: ['words'] })] })],
      [list({})],
    )
    const { hits, questions } = engine.judge(message('so damn good'))
    expect(questions).toEqual([])
    expect(hits).toMatchObject([
      {
        rule: { ruleId: 'rule' },
        condition: { id: 1 },
        list: { listId: 'words', revision: 3 },
        match: { in: 'text', start: 3, end: 7, text: 'damn' },
      },
    ])
  })

  it('are left out when they are off, and not met by what they except', async () => {
    const judge = async (changes: Partial<RuleRevision>, text: string) =>
      (await compileEngine([rule(changes)], [])).judge(message(text)).hits.length
    expect(await judge({ mode: 'off' }, 'damn')).toBe(0)
    expect(await judge({ mode: 'shadow' }, 'damn')).toBe(1)
    expect(await judge({ exceptions: ['damn fine coffee'] }, 'Damn fine coffee')).toBe(0)
    expect(await judge({ exceptions: ['damn fine coffee'] }, 'Damn fine coffee, damn it')).toBe(1)
  })

  it('apply where all their filters are met', async () => {
    const apply = async (filters: RuleRevision['filters'], changes: Partial<JudgedMessage> = {}) =>
      (await compileEngine([rule({ filters })], [])).judge(message('damn', changes)).hits.length === 1
    const sender = { type: 'sender', entity: 'user' } as const
    const group = { type: 'receiver', entity: 'group' } as const
    const inGarden = { kind: 'group', receiver: { ...garden, scope: 'moderator' } } as const
    expect(await apply([{ ...sender, operand: 'uid', operator: 'in', value: 'Alice, carol' }])).toBe(true)
    expect(await apply([{ ...sender, operand: 'uid', operator: 'notIn', value: 'alice' }])).toBe(false)
    expect(await apply([{ ...sender, operand: 'tags', operator: 'equals', value: 'new' }])).toBe(true)
    expect(await apply([{ ...group, operand: 'type', operator: 'equals', value: 'public' }])).toBe(false)
    expect(await apply([{ ...group, operand: 'type', operator: 'equals', value: 'public' }], inGarden)).toBe(true)
    expect(await apply([{ ...sender, operand: 'scope', operator: 'notEquals', value: 'moderator' }], inGarden)).toBe(
      false,
    )
    expect(await apply([{ ...group, operand: 'createdAt', operator: 'lessThan', value: '1700000000' }], inGarden)).toBe(
      true,
    )
  })
})

describe('Other conditions', () => {
  it('are patterns, links and lengths', async () => {
    expect(await found({ category: 'pattern', value: ['[0-9]{3,10}'] }, 'call 12345 now')).toEqual(['12345'])
    expect(await found({ category: 'links', value: ['greaterThan_1'] }, 'https://a.example b.com')).toHaveLength(1)
    expect(await found({ category: 'links', value: ['greaterThan_1'] }, 'https://a.example b')).toEqual([])
    expect(await found({ category: 'length', value: ['greaterThan_3'] }, '😀😀😀')).toEqual([])
    expect(await found({ category: 'length', value: ['greaterThan_3'] }, '😀😀😀a')).toHaveLength(1)
  })

  it('compare sentences by their words', async () => {
    const sentences = list({ listId: 'spam', category: 'sentence-similarity', terms: ['buy cheap watches now'] })
    const changes = { category: 'sentence-similarity', isListed: true, value: ['spam_greaterThan_70'] } as const
    expect(await found(changes, 'Now buy: CHEAP watches!', [sentences])).toHaveLength(1)
    expect(await found(changes, 'buy bread', [sentences])).toEqual([])
  })

  it('count what a sender sends within a minute, and what they repeat', async () => {
    const rate = condition({ category: 'rate', value: ['greaterThan_2'] })
    const repetition = condition({ id: 2, category: 'repetition', value: ['greaterThan_1'] })
    const engine = await compileEngine([rule({ conditions: [rate, repetition] })], [])
    let time = 0
    const traffic = createTraffic(() => time)
    const ids = (text: string) => engine.judge(message(text), traffic).hits.map(({ condition }) => condition.id)
    expect([ids('a'), ids('b'), ids('b')]).toEqual([[], [], [1, 2]])
    time = 61_000
    expect([ids('c'), ids('b')]).toEqual([[], [2]])
    expect(engine.judge(message('b')).hits).toEqual([])
  })

  it('become questions where somebody outside has to answer, unless a rule stops the message already', async () => {
    const violence = condition({ operand: 'image', value: ['violence_greaterThan_30'] })
    const api = condition({ id: 2, category: 'custom-api', isListed: true, value: ['api_greaterThan_80'] })
    const lists = [list({ listId: 'api', category: 'custom-api', terms: ['https://example.com'] })]
    const engine = await compileEngine([rule({ conditions: [violence, api] }), rule({ ruleId: 'words' })], lists)
    const image = { files: [{ url: 'https://example.com/a.png', shownAs: ['image'] as const }] }
    const asked = (text: string, changes = {}) =>
      engine
        .judge(message(text, changes))
        .questions.map(({ label, list, threshold }) => label ?? `${list?.listId} ${threshold}`)
    expect(asked('hello')).toEqual(['api 80'])
    expect(asked('', image)).toEqual(['violence'])
    expect(asked('hello', image)).toEqual(['violence', 'api 80'])
    expect(asked('damn', image)).toEqual([])
  })
})

describe('Lists that come with the service', () => {
  it('are those of the languages, each under an id of its own, and English without doubtful words', () => {
    const lists = builtInLists()
    const ids = lists.map(({ listId }) => listId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(expect.arrayContaining(['profanity-list', 'profanity-list-de', 'profanity-list-fr-ca']))
    for (const { listId, terms, category } of lists) {
      expect(listId).toMatch(/^[a-z-]+$/)
      expect(terms.length).toBeGreaterThan(0)
      expect(flawOfTerms(category, terms)).toEqual([])
    }
    const english = lists.find(({ listId }) => listId === 'profanity-list')!.terms
    expect(english.length).toBeGreaterThan(200)
    for (const word of ['cum', 'sex', 'jeez', 'niggardly', 'cocky']) expect(english).not.toContain(word)
  })
})

describe('Long lists', () => {
  const many = (first: number) => Array.from({ length: 3000 }, (_, index) => `turnip${first + index}`)

  it('are compiled in another thread, and found like short ones', async () => {
    const listed = { isListed: true, value: ['words'] }
    expect(await found(listed, 'a TURNIP4999 here', [list({ terms: many(2000) })])).toEqual(['TURNIP4999'])
    expect(await found(listed, 'a turnip1999 here', [list({ terms: many(2000) })])).toEqual([])
    const sentences = list({
      listId: 'long',
      category: 'sentence-similarity',
      terms: many(0).map((term) => `buy ${term}`),
    })
    const changes = { category: 'sentence-similarity', isListed: true, value: ['long_greaterThan_60'] } as const
    expect(await found(changes, 'Buy turnip77!', [sentences])).toHaveLength(1)
    expect(await found(changes, 'buy cabbage', [sentences])).toEqual([])
  })

  it('are compiled once for all who have the same terms', async () => {
    const first = await shareTerms('word', many(7000))
    expect(await shareTerms('word', many(7000))).toBe(first)
    expect(await shareTerms('word', many(7001))).not.toBe(first)
  })
})

describe('Patterns', () => {
  it('see what is hidden by width and by what shows nothing', async () => {
    const number = { category: 'pattern', value: ['[0-9]{3,10}'] } as const
    expect(await found(number, 'ring １２３４ now')).toEqual(['１２３４'])
    expect(await found(number, 'ring 1\u200b2\u200b3 now')).toEqual(['1\u200b2\u200b3'])
    expect(await found({ ...number, operator: 'equals' }, '１２３')).toEqual(['１２３'])
    expect(await found({ ...number, operator: 'equals' }, '１２３ now')).toEqual([])
  })

  it.each([
    ['a*', '`*` has no upper bound: write a number, such as {1,20}'],
    ['\\d+', '`+` has no upper bound: write a number, such as {1,20}'],
    ['a{2,}', '`{2,}` has no upper bound'],
    ['(a{1,20}){1,20}$', '`{1,20}` repeats what is repeated itself'],
    ['(?:a{1,2}|b){3}', '`{3}` repeats what is repeated itself'],
    ['', 'it is empty'],
    ['a?', 'it is met by an empty text'],
    ['(a)\\1', expect.stringContaining('it is no valid pattern')],
    ['(?=a)b', expect.stringContaining('it is no valid pattern')],
    ['(a', expect.stringContaining('it is no valid pattern')],
    ['[a-z]{1,900}[0-9]{1,900}x{1,900}', 'it is too large: use smaller repetitions'],
  ])('are refused with the reason: %s', (source, reason) => {
    expect(flawOfTerms('pattern', ['fine', source])).toEqual([{ line: 2, message: reason }])
  })

  it.each([
    '[*+]',
    '\\*\\+',
    '[^]*]x',
    '\\Q*+\\E',
    '(?i)a{1,50}@b[.]c',
    '[0-9]{3,10}',
    'colou?r',
    '([0-9]{3}-){2}',
    '[[:alpha:]*]x',
  ])('are taken: %s', (source) => {
    expect(flawOfTerms('pattern', [source])).toEqual([])
  })
})

describe('Terms', () => {
  it('are refused where nothing is left of them, and where they are long', () => {
    expect(flawOfTerms('word', ['fine', '?!', 'a'.repeat(101)])).toEqual([
      { line: 2, message: 'it has no letter and no digit' },
      { line: 3, message: 'it has more than 100 characters' },
    ])
  })
})
