import { beforeAll, describe, expect, it } from 'vitest'
import { type Attacker, attackerAs } from '../support/attacker.ts'
import { createGroup, refusal } from '../support/chat.ts'
import { inTurns } from '../support/in-turns.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** A password of four digits falls to whoever may try all of them, and those who try keep the others waiting. */
describe('Whoever guesses the password of a group', () => {
  let world: World
  let mallory: Attacker
  const password = '4751'
  const join = (who: Attacker, guess: string) => who.post('/groups/vault/members', { password: guess })

  beforeAll(async () => {
    world = await createWorld()
    await createUsers(world, 'owner', 'mallory', 'alice')
    await createGroup(world, 'vault', 'owner', {}, { type: 'password', password })
    mallory = await attackerAs(world, 'mallory')
  })

  it('is heard a few times, and then must wait, longer each time', async () => {
    const guesses = Array.from({ length: 300 }, (_, n) => String(n).padStart(4, '0'))
    const answers = await inTurns(
      50,
      guesses.map((guess) => () => join(mallory, guess)),
    )
    const outcomes = answers.map(refusal)
    expect(new Set(outcomes)).toEqual(new Set(['403 ERR_WRONG_GROUP_PASS', '429 ERR_TOO_MANY_REQUESTS']))
    expect(outcomes.filter((outcome) => outcome.startsWith('403')).length).toBeLessThan(50)
    expect(refusal(await mallory.get('/groups/vault/messages'))).toBe('403 ERR_GROUP_NOT_JOINED')
  })

  it('keeps nobody else out', async () => {
    const alice = await attackerAs(world, 'alice')
    expect((await alice.put('/me', {})).status).toBe(200)
    expect((await join(alice, password)).status).toBe(200)
  })
})
