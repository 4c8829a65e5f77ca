import { afterAll, describe, expect, it } from 'vitest'
import { type Journal, startJournal } from '../../src/emulators/journal.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { createWorld } from '../support/world.ts'
import { createOperator, createOwner, meOf } from './operator.ts'

describe('the journal of the emulators', () => {
  let own: OwnServices | undefined
  let journal: Journal | undefined
  afterAll(async () => {
    await own?.close()
    await journal?.close()
  })

  it('is shown to operators of all apps who may read, newest first', async () => {
    journal = await startJournal({ port: 0 })
    own = await createOwnServices()
    const service = await own.start({ EMULATORS_URL: journal.endpoint })
    const world = await createWorld(service)
    const owner = await createOwner(world)
    const read = async (reason = '?reason=trying%20it') => dataOf(await owner.get(`/emulators/journal${reason}`))
    expect(await read()).toEqual({ isSet: true, lines: [] })
    journal.add('FCM 200 to device: Alice: hi')
    journal.add('Twilio 201 to +49: hi')
    // Not without a reason, which is recorded once an hour.
    expect(await read('')).toEqual({ isSet: true, lines: [] })
    expect(refusal(await owner.get('/emulators/journal?reason=x'))).toBe('400 ERR_BAD_REQUEST')
    const { id } = await meOf(owner)
    await read()
    expect(dataOf(await owner.get(`/audit-log?operator=${id}&action=emulators_read`))).toMatchObject([
      { target: { type: 'operator', id }, details: { reason: 'trying it' } },
    ])
    expect(await read()).toMatchObject({
      lines: [
        { number: 2, text: 'Twilio 201 to +49: hi' },
        { number: 1, at: expect.any(Number) },
      ],
    })
    for (const grants of [{ role: 'support' }, { role: 'owner', apps: [world.app.name] }]) {
      const other = await createOperator(owner, grants)
      expect(refusal(await other.get('/emulators/journal'))).toBe('403 ERR_PERMISSION_DENIED')
    }
    await journal.close()
    expect(await read()).toMatchObject({ isSet: true, lines: [], problem: expect.stringContaining('do not answer') })
  })

  it('is not there where no emulators are named, and those of another machine cannot be', async () => {
    const owner = await createOwner(await createWorld())
    expect(dataOf(await owner.get('/emulators/journal'))).toEqual({ isSet: false, lines: [] })
    const { readConfig } = await import('../../src/config/index.ts')
    for (const EMULATORS_URL of ['http://10.0.0.1:9098', 'file:///etc/passwd', 'http://127.0.0.1:9098/x?y']) {
      expect(() => readConfig({ EMULATORS_URL })).toThrow(/EMULATORS_URL must be an address of this machine/)
    }
  })
})
