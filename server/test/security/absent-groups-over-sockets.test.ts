import { expect, it, vi } from 'vitest'
import { createGroup } from '../support/chat.ts'
import { connect } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** Each frame to a group that is not there, or not the sender's, would look for all who are connected. */
it('Frames to groups that are not there look for nobody else, and whoever sends many is closed', async () => {
  const world = await createWorld()
  const bystanders = ['bystander1', 'bystander2', 'bystander3']
  await createUsers(world, 'mallory', ...bystanders)
  await createGroup(world, 'others', 'bystander1')
  for (const uid of bystanders) await connect(world, uid)
  const socket = await connect(world, 'mallory')
  const asked = vi.spyOn(world.context.database, 'query')
  try {
    const types = ['typing_indicator', 'transient_message']
    for (let i = 0; socket.closedWith === undefined && i < 20; i++) {
      for (let k = 0; k < 25; k++) {
        const body = k % 2 === 0 ? { action: 'started' } : { data: 'x' }
        const receiver = k % 5 === 0 ? 'others' : `nowhere-${k}`
        socket.send({ type: types[k % 2], receiver, receiverType: 'group', body })
      }
      await expect.poll(() => socket.closedWith ?? socket.frames.length).toBeGreaterThanOrEqual(25)
      socket.frames.length = 0
    }
    expect(socket.closedWith).toBe(4429)
    const questions = JSON.stringify(asked.mock.calls.map(([, values]) => values))
    expect(questions).toContain('mallory')
    expect(questions).not.toContain('bystander')
  } finally {
    asked.mockRestore()
  }
})
