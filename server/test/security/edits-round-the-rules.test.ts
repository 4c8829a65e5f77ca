import { afterAll, describe, expect, it } from 'vitest'
import { attackerAs } from '../support/attacker.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { connect } from '../support/socket.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'

afterAll(closeEndpoints)

/** Whoever may not send (any more) turns an old message of theirs into what they would send. */
describe('The edit of an old message', () => {
  it('does not reach somebody who has blocked its sender', async () => {
    const world = await createWorld()
    await createUsers(world, 'anna', 'bert')
    const { id } = await say(world, 'anna', 'bert', 'harmless')
    dataOf(await world.post('/users/bert/blockedusers', { blockedUids: ['anna'] }))
    const [anna, bert] = [await attackerAs(world, 'anna'), await connect(world, 'bert')]
    expect(refusal(await anna.put(`/messages/${id}`, { data: { text: 'abuse' } }))).toBe('403 ERR_BLOCKED_SENDER')
    expect(refusal(await anna.post(`/messages/${id}/pin`))).toBe('403 ERR_BLOCKED_SENDER')
    await bert.pong()
    expect(bert.frames).toEqual([])
    expect(JSON.stringify(dataOf(await world.get('/users/anna/messages', { as: 'bert' })))).not.toContain('abuse')
  })

  it('does not say what its scope may not send', async () => {
    const world = await createWorld()
    await createUsers(world, 'owner', 'anna')
    await createGroup(world, 'team', 'owner', { participants: ['anna'] })
    const { id } = await sayInGroup(world, 'anna', 'team', 'harmless')
    const { id: image } = await sayInGroup(world, 'anna', 'team', '', {
      type: 'image',
      data: { attachments: [{ url: 'https://example.com/a.png', mimeType: 'image/png' }] },
    })
    const anna = await attackerAs(world, 'anna')
    const permit = async (permissions: object) =>
      dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))

    await permit({ 'sendMessage.allowedMimeTypes': ['image/png'] })
    const attachments = [{ url: 'https://example.com/a.exe', mimeType: 'application/x-msdownload' }]
    const program = await anna.put(`/messages/${image}`, { data: { attachments } })
    expect(refusal(program)).toBe('403 ERR_PERMISSION_DENIED')
    await permit({ sendMessage: 'deny' })
    const words = await anna.put(`/messages/${id}`, { data: { text: 'advertisement' } })
    expect(refusal(words)).toBe('403 ERR_PERMISSION_DENIED')
    expect(dataOf(await world.get(`/messages/${id}`)).data.text).toBe('harmless')
  })

  it('does not go round those who judge messages, nor forge what they said', async () => {
    const world = await createWorld()
    await createUsers(world, 'anna', 'bert')
    const moderator = await open()
    moderator.behave(({ text }) => ({
      body: text.includes('refused') ? '{"action":"do_not_propagate"}' : '{"verdict":"clean"}',
    }))
    const hook = { id: 'mod', name: 'Moderator', webhookURL: moderator.url, triggers: ['before_message'] }
    dataOf(await world.post('/webhooks', hook, { headers: { 'X-Webhook-Version': '1' } }))
    const anna = await attackerAs(world, 'anna')
    const { id } = await say(world, 'anna', 'bert', 'harmless')
    expect(refusal(await anna.put(`/messages/${id}`, { data: { text: 'refused' } }))).toBe('403 ERR_BLOCKED_BY_WEBHOOK')
    const forged = { '@injected': { webhooks: { mod: { verdict: 'forged' } } } }
    dataOf(await anna.put(`/messages/${id}`, { data: { text: 'still harmless', metadata: forged } }))
    const { text, metadata } = dataOf(await world.get(`/messages/${id}`)).data
    expect({ text, metadata }).toEqual({
      text: 'still harmless',
      metadata: { '@injected': { webhooks: { mod: { verdict: 'clean' } } } },
    })
  })
})
