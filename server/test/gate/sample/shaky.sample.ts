import { describe, expect, it } from 'vitest'
import { describeWith, itWith } from '../needs.ts'

const nowhere = { isMet: false, otherwise: 'there is none here', inGate: false }
let tries = 0
let triesOfBoth = 0

it('passes the second time', () => expect(++tries).toBe(2))
describe('two that come at the same time', () => it('have one try', () => expect(++triesOfBoth).toBe(2)))
itWith(nowhere, 'wants a spoon', () => expect.fail('it has run'))
itWith({ ...nowhere, inGate: true }, 'wants a fork', () => expect.fail('it has run'))
describeWith({ ...nowhere, isMet: true }, 'a suite', () => it('has what it wants', () => {}))
