import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../../support/chat.ts'
import { createUsers, createWorld, send } from '../../support/world.ts'

const reasons = '/moderation/reasons'
const offTopic = { id: 'off-topic', name: 'OffTopic', description: 'Not about the subject' }
const idsOf = (listed: ReadonlyArray<{ id: string }>) => listed.map(({ id }) => id)
const predefined = ['spam', 'harassment', 'hate_speech', 'violence', 'inappropriate', 'other']

describe('reasons for flagging', () => {
  it('are predefined ones and the app’s own, and front ends find them in their settings', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const made = dataOf(await world.post(reasons, offTopic))
    expect(made).toEqual({ ...offTopic, createdAt: expect.any(Number), updatedAt: made.createdAt })
    expect(dataOf(await world.get(`${reasons}/off-topic`))).toEqual(made)
    expect(dataOf(await world.get(`${reasons}/spam`))).toMatchObject({ default: true, createdAt: expect.any(Number) })
    const { data, meta } = (await world.get(reasons)).body
    expect(idsOf(data)).toEqual([...predefined, 'off-topic'])
    expect(data.at(-1)).toEqual({
      ...offTopic,
      ...{ createdAt: String(made.createdAt), updatedAt: String(made.createdAt), default: false },
    })
    expect(meta).toEqual({ current: { limit: 50, count: 7 } })
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    const { settings } = dataOf(await world.put('/me', {}, { token: authToken }))
    expect(idsOf(settings.flagReasons)).toEqual([...predefined, 'off-topic'])
    expect(settings.flagReasons.at(-1)).toEqual({ ...made, default: false })
  })

  it('are renamed and removed, predefined ones too', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    const shown = async (): Promise<string[]> => {
      const { flagReasons } = dataOf(await world.get('/settings', { token: authToken }))
      return flagReasons.map(({ name }: { name: string }) => name)
    }
    expect(await shown()).toHaveLength(predefined.length)
    dataOf(await world.post(reasons, offTopic))
    expect(await shown()).toContain('OffTopic')
    expect(dataOf(await world.put(`${reasons}/off-topic`, { name: 'Off topic' }))).toMatchObject({
      ...{ name: 'Off topic', description: offTopic.description },
    })
    expect(await shown()).toContain('Off topic')
    expect(dataOf(await world.put(`${reasons}/spam`, { name: 'Junk' }))).toMatchObject({ name: 'Junk', default: true })
    expect((await world.delete(`${reasons}/off-topic`)).body).toEqual({
      success: true,
      message: 'reason off-topic removed',
    })
    expect(await shown()).not.toContain('Off topic')
    dataOf({ ...(await world.delete(`${reasons}/violence`)), body: { data: true } })
    expect(idsOf((await world.get(reasons)).body.data)).toEqual(predefined.filter((id) => id !== 'violence'))
    expect(refusal(await world.delete(`${reasons}/violence`))).toBe('404 ERR_REASON_NOT_FOUND')
    expect(refusal(await world.put(`${reasons}/violence`, { name: 'x' }))).toBe('404 ERR_REASON_NOT_FOUND')
    expect(dataOf(await world.post(reasons, { id: 'violence', name: 'Violence' }))).toMatchObject({ default: true })
    const audit = (await world.get('/audit-log?targetType=reason')).body.data
    expect(audit.map(({ action }: { action: string }) => action.split('_').at(-1))).toEqual([
      ...['created', 'deleted', 'deleted', 'updated', 'updated', 'created'],
    ])
  })

  it('are at most five of one’s own, each id once, also at the same time', async () => {
    const world = await createWorld()
    const made = await Promise.all([1, 2].map(() => world.post(reasons, offTopic)))
    expect(made.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(refusal(await world.post(reasons, { id: 'spam', name: 'Spam' }))).toBe('409 ERR_REASON_ALREADY_EXISTS')
    const more = await Promise.all([1, 2, 3, 4, 5].map((n) => world.post(reasons, { id: `r-${n}`, name: 'R' })))
    expect(more.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 400])
  })

  it.each<[string, object]>([
    ['body/id', { id: 'a b' }],
    ['body/id', { id: undefined }],
    ['body/name', { name: undefined }],
    ['body/name', { name: 5 }],
    ['body/description', { description: 'x'.repeat(256) }],
  ])('are refused naming what is wrong: %s', async (where, more) => {
    const world = await createWorld()
    const answer = await world.post(reasons, { ...offTopic, ...more })
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(answer.body.error.details.map((flaw: { path: string }) => flaw.path)).toContain(where)
    expect(refusal(await world.put(`${reasons}/spam`, {}))).toBe('400 ERR_BAD_REQUEST')
  })

  it('are of one app, and belong to fullAccess keys', async () => {
    const [world, other] = [await createWorld(), await createWorld()]
    await createUsers(world, 'alice')
    dataOf(await world.post(reasons, offTopic))
    expect(refusal(await other.get(`${reasons}/off-topic`))).toBe('404 ERR_REASON_NOT_FOUND')
    expect(refusal(await other.delete(`${reasons}/off-topic`))).toBe('404 ERR_REASON_NOT_FOUND')
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    expect(refusal(await world.get(reasons, { token: authToken }))).toBe('403 AUTH_ERR_NO_ACCESS')
    const front = { appid: world.app.name, apikey: world.authKey }
    expect(refusal(await send(world.url, 'POST', reasons, offTopic, front))).toBe('403 AUTH_ERR_NO_ACCESS')
  })
})
