import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'

/** Writes an import folder with a history of so many messages, a quarter of them in groups. */
export async function writeHistory(folder: string, messages: number): Promise<void> {
  const people = Math.max(20, Math.floor(messages / 100))
  const groups = Math.max(2, Math.floor(messages / 5000))
  const began = Math.floor(Date.now() / 1000) - 365 * 86_400
  const uid = (place: number) => `person-${place % people}`
  const write = async (name: string, count: number, record: (place: number) => object) => {
    const stream = createWriteStream(join(folder, `${name}.ndjson`))
    for (let place = 0; place < count; place++)
      if (!stream.write(`${JSON.stringify(record(place))}\n`)) await once(stream, 'drain')
    stream.end()
    await finished(stream)
  }
  await write('users', people, (place) => ({ uid: uid(place), name: `Person ${place}`, createdAt: began }))
  await write('groups', groups, (place) => ({
    ...{ guid: `group-${place}`, name: `Group ${place}`, type: 'public', owner: uid(place), createdAt: began },
  }))
  await write('members', groups * 20, (place) => {
    const [guid, who] = [`group-${place % groups}`, uid(place * 7 + 1)]
    return { memberId: `${guid}_member_${who}`, guid, uid: who, joinedAt: began + 1 }
  })
  await write('messages', messages, (place) => {
    const text = `message ${place}: ${'so that it is about as long as people write '.repeat(1 + (place % 3))}`
    const sentAt = began + 3600 + Math.floor((place / messages) * 360 * 86_400)
    const to =
      place % 4 === 0
        ? { receiverType: 'group', receiver: `group-${place % groups}` }
        : { receiverType: 'user', receiver: uid(place + 1 + (place % 5)), readAt: sentAt + 60 }
    return { muid: `old-${place}`, sender: uid(place), data: { text }, sentAt, ...to }
  })
}
