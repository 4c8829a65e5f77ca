import { fetch } from 'undici'
import { beforeAll, describe, expect, it } from 'vitest'
import { attackerAs } from '../support/attacker.ts'
import { createGroup, dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { picture, sendForm } from '../support/forms.ts'
import { connect } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** Whoever has once seen the address of a file reads it for ever, also when they are long out of the group. */
describe('Where addresses of files expire, whoever left a group', () => {
  let world: World
  let url: string
  const inTeam = { receiver: 'team', receiverType: 'group' }
  const bareOf = (address: string) => address.split('?')[0] as string

  beforeAll(async () => {
    world = await createWorld()
    await createUsers(world, 'alice', 'mallory', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['mallory', 'carol'] })
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { fileLinks: 'signed' }))
    url = dataOf(await sendForm(world, { ...inTeam, category: 'message', type: 'image' }, [picture])).data.url
  })

  it('reads no file by the address alone, nor by one that they changed', async () => {
    expect((await fetch(url)).status).toBe(200)
    for (const address of [
      bareOf(url),
      url.replace(/expires=\d+/, 'expires=99999999999'),
      `${bareOf(url)}?signature=`,
    ]) {
      expect((await fetch(address)).status).toBe(403)
    }
  })

  it('learns no signature by having others load the file from a host of theirs', async () => {
    const mallory = await attackerAs(world, 'mallory')
    const { origin } = new URL(url)
    const theirs = [
      url.replace(origin, 'https://evil.example'),
      url.replace(origin, 'https://evil.example/x'),
      url.replace(origin, `https://evil.example/${origin}`),
      url.replace(origin, `${origin.replace(/:\d+$/, '')}.evil.example`),
      url.replace(origin, `${origin.replace(/:\d+$/, '')}.evil.example`),
      url.replace('http://', 'https://'),
    ]
    const carol = await connect(world, 'carol')
    for (const address of theirs) {
      const message = (at: string) => ({
        ...inTeam,
        type: 'image',
        data: { attachments: [{ url: at, name: 'cat.png' }] },
      })
      expect(refusal(await mallory.post('/messages', message(address))), address).toBe('400 ERR_BAD_REQUEST')
      expect(refusal(await mallory.put('/me', { avatar: address })), address).toBe('400 ERR_BAD_REQUEST')
      // Whatever is stored, by the app or from times when addresses did not expire.
      const { id } = dataOf(await world.post('/messages', message(bareOf(address)), { as: 'alice' }))
      const read = await world.get(`/messages/${id}`, { as: 'carol' })
      for (const told of [dataOf(read), (await carol.takeType('message')).body]) {
        expect(told.data.attachments[0].url).toBe(bareOf(address))
        expect(JSON.stringify(told.data)).not.toContain('signature=')
      }
    }
    carol.close()
    const own = { ...inTeam, type: 'image', data: { attachments: [{ url, name: 'cat.png' }] } }
    expect(dataOf(await mallory.post('/messages', own)).data.attachments[0].url).toContain('signature=')
    dataOf(await world.delete('/groups/team/members/mallory'))
    expect(refusal(await mallory.get('/groups/team/messages'))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect((await sayInGroup(world, 'alice', 'team', 'gone')).id).toBeDefined()
  })

  it('learns no signature by naming the file in a member whose name only ends like one that names files', async () => {
    const mallory = await attackerAs(world, 'mallory')
    for (const name of ['x"url', '\\"url', '{"url', ',"avatar', 'x"icon']) {
      const metadata = { [name]: bareOf(url), inside: { [name]: bareOf(url) }, text: `{"url":"${bareOf(url)}"}` }
      const message = { receiver: 'mallory', receiverType: 'user', type: 'text', data: { text: 'x', metadata } }
      for (const answer of [await mallory.post('/messages', message), await mallory.put('/me', { metadata })]) {
        expect(answer.status, name).toBe(200)
        expect(JSON.stringify(answer.body), name).not.toContain('signature=')
      }
    }
  })
})
