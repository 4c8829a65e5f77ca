import net from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { tokenOf } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** A host that no address can be made of made the service answer 500. */
it.each(['a b', '[', 'x:99999', '[::1', '@', 'a@b', '\\', '%'])('The host "%s" is refused', async (host) => {
  const world = await createWorld()
  await createUsers(world, 'mallory')
  const { hostname, port } = new URL(world.url)
  const credential = `appid: ${world.app.name}\r\nauthtoken: ${await tokenOf(world, 'mallory')}`
  for (const path of ['/v3/settings', '/v3/me', '/v3/users']) {
    const socket = net.connect(Number(port), hostname)
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${credential}\r\nconnection: close\r\n\r\n`)
    expect(await text(socket), path).toMatch(/^HTTP\/1.1 400 /)
  }
})
