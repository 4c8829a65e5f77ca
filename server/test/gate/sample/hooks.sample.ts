import { beforeAll, describe, it } from 'vitest'

describe('a suite whose hook fails', () => {
  beforeAll(() => {
    throw new Error('on purpose')
  })
  it('has not run', () => {})
})
