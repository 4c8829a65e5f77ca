import fc from 'fast-check'
import { type Group, groups, owner, type Person, people } from './model.ts'

/** One thing that somebody does. Numbers pick one of what there is, modulo how many. */
export type Step =
  | { do: 'say'; by: Person; to: Person | Group; what: 'text' | 'image' | 'bad' }
  | { do: 'reply bad' | 'flag'; by: Person; which: number }
  | { do: Review; which: number }
  | { do: 'reply' | 'edit' | 'delete' | 'react' | 'save' | 'pin' | 'unpin' | 'unread'; by: Person; which: number }
  | { do: 'remove'; which: number }
  | { do: 'read' | 'reset'; by: Person; with: Person | Group }
  | { do: 'block' | 'unblock'; by: Person; whom: Person }
  | { do: 'join' | 'leave'; by: Person }
  | { do: 'add' | 'kick' | 'ban' | 'unban'; whom: Person; group: Group }
  | { do: 'scope'; group: Group; key: 'send' | 'history' | 'onlyTexts'; is: boolean }
  | { do: 'role'; key: 'listMessages' | 'onlyTexts'; is: boolean }
  | { do: 'erase' | 'sleep' | 'wake'; whom: Person }
  | { do: 'promote'; whom: Person; group: Group; to: 'moderator' | 'participant' }
  | { do: 'correct'; which: number }
  | { do: 'import'; by: Person; to: Person | Group; when: 'long ago' | 'soon' }

/** What reviewers do. */
export type Review = 'release' | 'release in place' | 'stop' | 'let be'

const person = fc.constantFrom(...people)
const guest = fc.constantFrom(...people.filter((one) => one !== owner))
const group = fc.constantFrom(...groups)
const place = fc.oneof({ weight: 3, arbitrary: person }, { weight: 4, arbitrary: group })
const which = fc.nat(60)
/** One of few, so that reviewers meet what was flagged. */
const recent = fc.nat(3)

const often = <Step extends object>(weight: number, record: { [Key in keyof Step]: fc.Arbitrary<Step[Key]> }) => ({
  weight,
  arbitrary: fc.record(record) as unknown as fc.Arbitrary<Step>,
})
const is = <const Names extends string[]>(...names: Names) => fc.constantFrom(...names)

export const anyStep = fc.oneof(
  often(10, { do: is('say'), by: person, to: place, what: is('text', 'text', 'image', 'bad') }),
  often(5, { do: is('reply'), by: person, which }),
  often(5, { do: is('edit', 'delete'), by: person, which }),
  often(5, { do: is('react', 'save', 'pin', 'unpin', 'unread'), by: person, which }),
  often(1, { do: is('reply bad'), by: person, which }),
  often(6, { do: is('flag'), by: person, which: recent }),
  often(6, { do: is('release', 'release', 'release in place', 'stop', 'stop', 'let be'), which: recent }),
  often(1, { do: is('remove'), which }),
  often(3, { do: is('read'), by: person, with: place }),
  often(3, { do: is('reset'), by: person, with: place }),
  often(2, { do: is('block', 'unblock'), by: person, whom: person }),
  often(2, { do: is('join', 'leave'), by: guest }),
  often(5, { do: is('add', 'add', 'kick', 'ban', 'unban'), whom: guest, group }),
  often(3, { do: is('scope'), group, key: is('send', 'history', 'onlyTexts'), is: fc.boolean() }),
  often(2, { do: is('role'), key: is('listMessages', 'onlyTexts'), is: fc.boolean() }),
  often(2, { do: is('sleep', 'wake'), whom: fc.constantFrom('ben', 'dan') }),
  often(2, { do: is('promote'), whom: guest, group, to: is('moderator', 'participant') }),
  often(2, { do: is('correct'), which }),
  often(1, { do: is('erase'), whom: fc.constant('dan') }),
  often(4, { do: is('import'), by: person, to: place, when: is('long ago', 'soon') }),
) as fc.Arbitrary<Step>
