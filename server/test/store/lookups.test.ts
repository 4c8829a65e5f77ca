import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLookups, lookup, placedLookup } from '../../src/store/lookups.ts'
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
    lookups.ask<Row>(select, [appId, keys.map(([kind]) => kind), keys.map(([, name]) => name)])
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
    const answers = await Promise.all([ask(inOrder, [1, ['ann']]), ask(inOrder, [1, ['ben', 'ann']])])
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
      ask(placed, [1, ['ann']]),
      ask(placed, [1, ['nobody', 'ann']]),
      ask(placed, [1, ['ben', 'cleo']]),
      ask(placed, [1, ['ann']]),
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
      const found = lookups.ask<Row>(select, [appId, [1], [name]])
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
