import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { inTurns } from '../support/in-turns.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

interface Row {
  readonly id: string
  readonly sentAt: number
}

type Affix = 'append' | 'prepend'

const separator = (path: string) => (path.includes('?') ? '&' : '?')

/** Reads a list page by page, from the cursor that each page gives, until there is none; the pages in their order. */
async function walk(world: World, path: string, affix: Affix, as?: string): Promise<Row[][]> {
  const pages: Row[][] = []
  let cursor = ''
  for (;;) {
    const url = `${path}${separator(path)}limit=7&affix=${affix}${cursor}`
    const answer = await world.get(url, as === undefined ? {} : { as })
    const rows: Row[] = dataOf(answer)
    if (affix === 'append') pages.push(rows)
    else pages.unshift(rows)
    const { next, previous } = answer.body.meta
    const onward = affix === 'append' ? next : previous
    if (onward === undefined) return pages
    cursor = `&id=${onward.id}&sentAt=${onward.sentAt}`
  }
}

const before = (a: Row, b: Row) => a.sentAt < b.sentAt || (a.sentAt === b.sentAt && Number(a.id) < Number(b.id))

/** The same in an order in which kinds alternate: every third, beginning with each of the first three. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  return [0, 1, 2].flatMap((first) => items.filter((_, i) => i % 3 === first))
}

/** Each row once, each after the one before it, from the first page to the last. */
function expectOneOrder(pages: readonly Row[][]): void {
  const rows = pages.flat()
  const wrong = rows.slice(1).filter((row, i) => !before(rows[i] as Row, row))
  expect(wrong).toEqual([])
}

describe('The pages of a list', () => {
  it('concatenate to one order in both directions, while people write, edit and delete', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const parent = await sayInGroup(world, 'alice', 'team', 'parent')
    const made: string[] = [parent.id]
    const write = async (i: number): Promise<undefined> => {
      const extra = i % 3 === 0 ? { parentId: parent.id } : {}
      made.push((await sayInGroup(world, i % 2 === 0 ? 'alice' : 'bob', 'team', `${i}`, extra)).id)
      return undefined
    }
    await inTurns(
      8,
      Array.from({ length: 60 }, (_, i) => () => write(i)),
    )
    const lists = [
      ['/groups/team/messages?category=message', 'bob'],
      ['/messages?category=message', 'bob'],
      ['/messages?category=message', undefined],
      [`/messages/${parent.id}/thread`, 'alice'],
      ['/groups/team/messages?category=message&searchKey=1', 'alice'],
    ] as const

    for (let round = 0; round < 3; round++) {
      const there = new Map<number, Set<string>>()
      for (const [i, [path, as]] of lists.entries()) {
        there.set(i, new Set((await walk(world, path, 'append', as)).flat().map(({ id }) => id)))
      }
      // Not the parent: its thread would go with it.
      const doomed = made.slice(1).filter((_, i) => i % 5 === round)
      const softly = doomed.filter((_, i) => i % 2 === 0)
      const forGood = doomed.filter((_, i) => i % 2 === 1)
      const walks = lists.flatMap(([path, as], i) =>
        (['append', 'prepend'] as const).map(async (affix) => ({
          i,
          affix,
          pages: await walk(world, path, affix, as),
        })),
      )
      const changes = [
        ...Array.from({ length: 12 }, (_, i) => () => write(1000 * round + i)),
        ...softly.map((id) => () => world.delete(`/messages/${id}`)),
        ...forGood.map((id) => () => world.delete(`/messages/${id}`, { permanent: true })),
        ...made.slice(1, 20).map((id) => () => world.put(`/messages/${id}`, { data: { text: '1 edited' } })),
      ]
      const [walked, changed] = await Promise.all([
        Promise.all(walks),
        inTurns<Answer | undefined>(6, shuffled(changes)),
      ])
      for (const answer of changed) {
        if (answer !== undefined && answer.status !== 200) {
          expect(['404 ERR_MESSAGE_ID_NOT_FOUND', '403 ERR_MESSAGE_ACTION_NOT_ALLOWED']).toContain(refusal(answer))
        }
      }
      for (const { i, affix, pages } of walked) {
        expectOneOrder(pages)
        // What was there before, and is there still, was not passed over. (An edit may make or unmake a hit of a search.)
        if (lists[i]?.[0].includes('searchKey')) continue
        const seen = new Set(pages.flat().map(({ id }) => id))
        const missed = [...(there.get(i) ?? [])].filter((id) => !seen.has(id) && !forGood.includes(id))
        expect({ list: lists[i], affix, missed }).toEqual({ list: lists[i], affix, missed: [] })
      }
      for (const [path, as] of lists) {
        const [forward, backward] = [await walk(world, path, 'append', as), await walk(world, path, 'prepend', as)]
        expect(backward.flat().map(({ id }) => id)).toEqual(forward.flat().map(({ id }) => id))
        expectOneOrder(forward)
      }
    }
  })
})
