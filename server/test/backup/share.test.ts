import { expect, it } from 'vitest'
import { shareOf } from '../../src/backup/share.ts'

it('A backup takes about half of the processors, and one where there are few', () => {
  const threads = [1, 2, 3, 4, 7, 8, 64].map((processors) => shareOf(processors))
  expect(threads.map(({ readers, packers }) => [readers, packers])).toEqual([
    ...[1, 2, 3].map(() => [1, 1]),
    ...[4, 7].map(() => [2, 1]),
    ...[8, 64].map(() => [2, 3]),
  ])
})
