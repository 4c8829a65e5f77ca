import { expect, it } from 'vitest'
import { createGroupPasswords } from '../../src/chat/groups/password.ts'
import { derivedKeys } from '../../src/store/data-keys.ts'
import { createSecrets } from '../../src/store/secrets.ts'
import { testMasterKey } from '../support/service.ts'

it('A user with a token who has passwords computed without a pause gets a part of the time, a back end all of it', async () => {
  const passwords = createGroupPasswords(createSecrets(() => derivedKeys(testMasterKey)))
  const computed = { token: 0, backEnd: 0 }
  const computeFor = async (who: keyof typeof computed, reader: { uid: string; isPaced: boolean }) => {
    while (computed.backEnd < 16) {
      await passwords.hash({ appId: 1, ...reader }, 'open sesame')
      computed[who]++
    }
  }
  await Promise.all([
    computeFor('token', { uid: 'anna', isPaced: true }),
    computeFor('backEnd', { uid: 'bert', isPaced: false }),
  ])
  expect(computed.backEnd).toBe(16)
  expect(computed.token).toBeGreaterThan(0)
  expect(computed.token).toBeLessThan(12)
})
