import { afterAll, expect, it } from 'vitest'
import { createOwnDatabase } from '../support/own-database.ts'
import { until } from '../support/until.ts'
import { expectSuccess, type Line, openLine } from './support/line.ts'
import { createStage } from './support/stage.ts'

const stage = createStage()
afterAll(stage.clean)

const writers = 64
const enough = 1_000
const members = Array.from({ length: 20 }, (_, i) => `m${String(i).padStart(2, '0')}`)

interface Row {
  readonly id: string
  readonly sentAt: number
}

interface Reader {
  /** What came by, in the order in which it came. */
  readonly seen: Row[]
  /** Reads to the end of what is there. */
  finish(): Promise<void>
}

/** Follows a history as a client does: asks again and again for what lies after the last row it was given. */
function follow(line: Line, path: string): Reader {
  const seen: Row[] = []
  let finishing = false
  const poll = async () => {
    for (;;) {
      const last = seen.at(-1)
      const cursor = last === undefined ? '' : `&id=${last.id}&sentAt=${last.sentAt}`
      const wasFinishing = finishing
      const { data } = await expectSuccess(line.call('GET', `${path}&affix=append&limit=100${cursor}`))
      for (const { id, sentAt } of data) seen.push({ id, sentAt })
      if (wasFinishing && data.length === 0) return
    }
  }
  const polling = poll()
  polling.catch(() => {})
  return {
    seen,
    async finish() {
      finishing = true
      await polling
    },
  }
}

it('whoever follows a conversation misses nothing that 64 writers send through two services', async () => {
  const { url: connectionString, drop } = await createOwnDatabase()
  stage.onClean(drop)
  const services = await Promise.all(
    [1, 2].map(() => stage.start({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })),
  )
  const urls = await Promise.all(services.map(({ ready }) => ready))
  const lineTo = (service: number) => openLine(() => urls[service % 2] as string)
  const [a, b] = [lineTo(0), lineTo(1)]
  for (const uid of [...members, 'guest']) await expectSuccess(a.call('POST', '/users', { uid, name: uid }))
  const [owner, ...participants] = members
  const group = { guid: 'team', name: 'Team', type: 'public', owner, members: { participants } }
  await expectSuccess(a.call('POST', '/groups', group))

  const histories = ['/messages?conversationId=group_team', '/messages?conversationId=m00_user_m01']
  const readers = histories.flatMap((path) => [a, b].map(() => path).map((each, i) => follow(lineTo(i), each)))
  const sent: string[][] = [[], []]
  let stopped = false
  const write = async (writer: number) => {
    const line = lineTo(writer)
    for (let n = writer; !stopped; n++) {
      const toGroup = n % 2 === 0
      const uid = toGroup ? members[writer % members.length] : ['m00', 'm01'][writer % 2]
      const target = toGroup
        ? { receiver: 'team', receiverType: 'group' }
        : { receiver: uid === 'm00' ? 'm01' : 'm00', receiverType: 'user' }
      const body = { ...target, data: { text: `${writer} ${n}` } }
      const { data } = await expectSuccess(line.call('POST', '/messages', body, { as: uid as string }))
      sent[toGroup ? 0 : 1]?.push(data.id)
    }
    await line.close()
  }
  // What happens in a group stands in its history too, written by other statements than sends.
  const comeAndGo = async () => {
    for (let n = 0; !stopped; n++) {
      const line = n % 4 < 2 ? a : b
      if (n % 2 === 0) await expectSuccess(line.call('POST', '/groups/team/members', { participants: ['guest'] }))
      else await expectSuccess(line.call('DELETE', '/groups/team/members/guest'))
    }
  }
  const running = Promise.all([comeAndGo(), ...Array.from({ length: writers }, (_, writer) => write(writer))])
  running.catch(() => {})
  await until(() => sent.every(({ length }) => length >= enough / 2), { progress: () => sent.flat().length })
  stopped = true
  await running
  await Promise.all(readers.map((reader) => reader.finish()))

  for (const [h, path] of histories.entries()) {
    const whole = follow(a, path)
    await whole.finish()
    const ids = whole.seen.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(sent[h]?.filter((id) => !ids.includes(id))).toEqual([])
    for (const reader of readers.slice(h * 2, h * 2 + 2)) {
      const followed = reader.seen.map(({ id }) => id)
      const missed = ids.filter((id) => !followed.includes(id))
      expect({ path, missed }).toEqual({ path, missed: [] })
      expect(followed).toEqual(ids)
    }
  }
  await Promise.all([a.close(), b.close()])
})
