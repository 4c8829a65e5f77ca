import { expect, it } from 'vitest'

let tries = 0

it('has one try', () => expect(++tries).toBe(2))
