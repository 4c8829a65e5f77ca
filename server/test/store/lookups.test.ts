import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLookups, lookup, pageLookup, placedLookup } from '../../src/store/lookups.ts'
import { ofService, type Reader } from '../../src/store/reader.ts'
import { statement } from '../../src/store/statement.ts'

interface Row {
  readonly kind: number
  readonly name: string
}

const select = lookup<Row>(statement('select kind, name from unnest($2, $3)'), ({ kind, name }) => [kind, name])

/** A database that has a row for every key but those named `nobody`, and notes what it is asked. */
function open() {
  const asked: unknown[][] = []
  const lookups = createLookups(async (_, values) => {
    asked.push(values)
    const [, kinds, names] = values as [number, number[], string[]]
    if (names.includes('broken')) throw new Error('the database is away')
    return names.flatMap((name, i) => (name === 'nobody' ? [] : [{ kind: kinds[i], name }]))
  }, 4)
  const find = (appId: number, ...keys: Array<[number, string]>) =>
    lookups.ask<Row>(select, [appId, keys.map(([kind]) => kind), keys.map(([, name]) => name)], ofService)
  return { asked, find }
}

describe('What is looked up at the same moment', () => {
  it('is asked in one query for each app, and everybody gets their own', async () => {
    const { asked, find } = open()
    const answers = await Promise.all([
      find(1, [1, 'ann']),
      find(1, [1, 'ann'], [2, 'ann'], [1, 'nobody']),
      find(1, [2, 'nobody']),
      find(2, [1, 'ann']),
    ])
    expect(answers).toEqual([
      [{ kind: 1, name: 'ann' }],
      [
        { kind: 1, name: 'ann' },
        { kind: 2, name: 'ann' },
      ],
      [],
      [{ kind: 1, name: 'ann' }],
    ])
    expect(asked).toEqual([
      [1, [1, 1, 2, 1, 2], ['ann', 'ann', 'ann', 'nobody', 'nobody']],
      [2, [1], ['ann']],
    ])
    await find(1, [1, 'ben'])
    expect(asked.length).toBe(3)
  })

  it('may have rows that are lists of their columns', async () => {
    const inOrder = lookup<readonly [string]>(statement('select name from unnest($2)'), ([name]) => [name])
    const { ask } = createLookups(async (_, values) => (values[1] as string[]).map((name) => [name]), 4)
    const answers = await Promise.all([
      ask(inOrder, [1, ['ann']], ofService),
      ask(inOrder, [1, ['ben', 'ann']], ofService),
    ])
    expect(answers).toEqual([[['ann']], [['ben'], ['ann']]])
  })

  it('may say of rows whose they are by the place of their key, and go in parts', async () => {
    const asked: unknown[][] = []
    const { ask } = createLookups(async (_, values) => {
      asked.push(values)
      const names = values[1] as string[]
      return names.flatMap((name, i) => (name === 'nobody' ? [] : [[i + 1, `found ${name}`]])).reverse()
    }, 4)
    const placed = placedLookup<readonly [number, string]>(statement('select n from unnest($2)'), ([n]) => n, 3)
    const answers = await Promise.all([
      ask(placed, [1, ['ann']], ofService),
      ask(placed, [1, ['nobody', 'ann']], ofService),
      ask(placed, [1, ['ben', 'cleo']], ofService),
      ask(placed, [1, ['ann']], ofService),
    ])
    expect(answers.map((rows) => rows.map((row) => (row as [number, string])[1]))).toEqual([
      ['found ann'],
      ['found ann'],
      ['found ben', 'found cleo'],
      ['found ann'],
    ])
    expect(asked).toEqual([
      [1, ['ann', 'nobody', 'ann']],
      [1, ['ben', 'cleo', 'ann']],
    ])
  })

  it('goes on gathering while the database has enough to do', async () => {
    const asked: string[][] = []
    const going: Array<() => void> = []
    const lookups = createLookups(async (_, values) => {
      const names = values[2] as string[]
      asked.push(names)
      await new Promise<void>((resolve) => going.push(resolve))
      if (names.includes('broken')) throw new Error('the database is away')
      return names.map((name) => ({ kind: 1, name }))
    }, 2)
    const find = async (appId: number, name: string) => {
      const found = lookups.ask<Row>(select, [appId, [1], [name]], ofService)
      await setImmediate()
      return { found }
    }
    const waiting = []
    for (const name of ['ann', 'broken', 'cleo', 'dan']) waiting.push(await find(1, name))
    waiting.push(await find(2, 'eve'), await find(1, 'fay'))
    expect(asked).toEqual([['ann'], ['broken']])
    const answers = Promise.allSettled(waiting.map(({ found }) => found))
    while (going.length > 0) {
      going.shift()?.()
      await setImmediate()
      await setImmediate()
    }
    expect(asked).toEqual([['ann'], ['broken'], ['cleo', 'dan', 'fay'], ['eve']])
    const statuses = (await answers).map(({ status }) => status)
    expect(statuses).toEqual(['fulfilled', 'rejected', ...Array(4).fill('fulfilled')])
  })

  it('fails for everybody who asked with it, and for nobody else', async () => {
    const { find } = open()
    const settled = await Promise.allSettled([find(1, [1, 'broken']), find(1, [1, 'ann']), find(2, [1, 'ann'])])
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  })
})

const page = pageLookup<readonly [place: number, name: string]>(statement('select n from unnest($2)'), ([n]) => n, 2)

/** A database that answers one statement at a time, when it is told to, and notes whose pages or keys it was asked for. */
function openSlowly() {
  const asked: string[] = []
  const going: Array<() => void> = []
  const { ask } = createLookups(async (_, [appId, ...columns]) => {
    const names = columns.at(-1) as string[]
    asked.push(`${appId}: ${names.join(' ')}`)
    await new Promise<void>((resolve) => going.push(resolve))
    return names.map((name, i) => (columns.length === 1 ? [i + 1, name] : { kind: 1, name }))
  }, 1)
  const answerAll = async () => {
    await setImmediate()
    for (let next = going.shift(); next !== undefined; next = going.shift()) {
      next()
      await setImmediate()
      await setImmediate()
    }
  }
  const readPage = (reader: Reader, name: string) => {
    const answer = ask<readonly [number, string]>(page, [reader.appId, [name]], reader)
    return answer.then(
      ([row]) => row?.[1],
      (error: Error) => error.name,
    )
  }
  return { ask, asked, answerAll, readPage }
}

describe('Pages that are looked up', () => {
  const ann = { appId: 1, uid: 'ann' }
  const ben = { appId: 1, uid: 'ben' }
  const eve = { appId: 2, uid: 'eve' }

  it('take turns between apps, and within an app between its users, beside what is looked up by key', async () => {
    const { ask, asked, answerAll, readPage } = openSlowly()
    const answers = [
      ...['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => readPage(ann, name)),
      ...['b1', 'b2'].map((name) => readPage(ben, name)),
      readPage(eve, 'e1'),
    ]
    const key = ask<Row>(select, [2, [1], ['key']], ofService)
    await answerAll()
    expect(asked).toEqual(['2: key', '1: a1 b1', '2: e1', '1: a2 b2', '1: a3 a4', '1: a5'])
    expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'e1'])
    expect(await key).toEqual([{ kind: 1, name: 'key' }])
  })

  it('are not read for those who have gone meanwhile', async () => {
    const { asked, answerAll, readPage } = openSlowly()
    const gone = { ...ann, isGone: true }
    const answers = [readPage(ann, 'a1'), readPage(gone, 'a2'), readPage(gone, 'a3'), readPage(ben, 'b1')]
    await answerAll()
    expect(asked).toEqual(['1: a1 b1'])
    expect(await Promise.all(answers)).toEqual(['a1', 'ReadAbandonedError', 'ReadAbandonedError', 'b1'])
  })

  it('are refused to whoever has too many waiting, and to an app that has', async () => {
    const { asked, answerAll, readPage } = openSlowly()
    const first = readPage(ann, 'first')
    await setImmediate()
    const own = Array.from({ length: 101 }, () => readPage(ann, 'more'))
    const others = Array.from({ length: 1901 }, (_, i) => readPage({ appId: 1, uid: `u${i}` }, 'other'))
    const elsewhere = readPage(eve, 'e1')
    await answerAll()
    expect(await first).toBe('first')
    expect((await Promise.all(own)).filter((answer) => answer === 'ReadsFullError').length).toBe(1)
    expect((await Promise.all(others)).filter((answer) => answer === 'ReadsFullError').length).toBe(1)
    expect(await elsewhere).toBe('e1')
    expect(asked.slice(0, 3)).toEqual(['1: first', '1: more other', '2: e1'])
    expect(await Promise.all([readPage(ann, 'again'), answerAll()])).toEqual(['again', undefined])
  })
})
