import { describe, expect, it } from 'vitest'
import { createWrongCredentials } from '../../src/protocol/wrong-credentials.ts'

describe('tokens that begin alike, as JWTs of one issuer do', () => {
  const alike = (end: string) => `${'eyJ'.padEnd(400, 'x')}.${end}`
  const address = '203.0.113.7'

  it('are each counted where they are wrong, and each known where they are right', async () => {
    const slowed: number[] = []
    const credentials = createWrongCredentials(() => slowed.push(1))
    credentials.wasRight(address, alike('right'))
    for (let i = 0; i < 102; i++) await credentials.wasWrong(address, alike(`wrong-${i}`))
    await credentials.check(address, alike('right'))
    await expect(credentials.check(address, alike('another'))).rejects.toMatchObject({ code: 'ERR_TOO_MANY_REQUESTS' })
    expect(slowed).toHaveLength(1)
  })
})
