import { describe, expect, it } from 'vitest'
import { dataOf, say } from '../support/chat.ts'
import { origin, recordsOf, thereAndBack } from '../support/exports.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { createUsers, createWorld } from '../support/world.ts'

describe('addresses of files in an export', () => {
  it('become those of the other service, and nothing of what stands around them is touched', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { data } = dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const here = data.attachments[0].url as string
    const there = `${origin}${new URL(here).pathname.replace(`/${world.app.name}/`, '/<app>/')}`
    const [, key] = /\/([0-9a-f]{32})\//.exec(here) ?? []
    const around = [
      (address: string) => `看https://example.com/文档，图在${address}。`,
      (address: string) => `[docs](https://docs.example.com/a)[photo](${address})`,
      (address: string) => `https://proxy.example.com/?u=${address}`,
      (address: string) => `${address},${address}`,
      (address: string) => `http://${address}`,
    ]
    // Other hosts by which it was reached.
    const hosts = ['http://[::1]:8080', 'https://Chat.Example.com:8443', 'http://chat_1.local', 'https://例え.jp']
    for (const place of around) await say(world, 'alice', 'bob', place(here))
    for (const host of hosts) await say(world, 'alice', 'bob', host + new URL(here).pathname)
    await thereAndBack(world, async (first, second, { name }) => {
      const texts = async (folder: string) =>
        (await recordsOf(folder, 'messages.ndjson')).flatMap(({ data }) => (data as { text?: string }).text ?? [])
      const portable = `https://media.invalid/${key}/cat.png`
      const expected = [...around.map((place) => place(portable)), ...hosts.map(() => portable)]
      expect(await texts(first)).toEqual(expected)
      expect(await texts(second)).toEqual(expected)

      const headers = { appid: name, apikey: world.apiKey }
      const moved = dataOf(await world.get('/users/bob/messages?type=text', { as: 'alice', headers })) as Array<{
        data: { text: string }
      }>
      const own = there.replace('<app>', name)
      expect(moved.map(({ data }) => data.text)).toEqual([
        ...around.map((place) => place(own)),
        ...hosts.map(() => own),
      ])
    })
  })
})
