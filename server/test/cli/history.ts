import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Writes an import folder with a made-up history: the same for the same numbers. */
export async function generateHistory(
  folder: string,
  { people, groups, messages }: { readonly people: number; readonly groups: number; readonly messages: number },
): Promise<string> {
  const began = Math.floor(Date.now() / 1000) - 90 * 86_400
  let random = 17
  const draw = (below: number) => {
    random = (random * 1103515245 + 12345) % 2147483648
    return (random >> 8) % below
  }
  const uids = Array.from({ length: people }, (_, place) => `person-${place}`)
  const guids = Array.from({ length: groups }, (_, place) => `group-${place}`)
  const users = uids.map((uid, place) => ({ uid, name: `Person ${place}`, createdAt: began, tags: [`t${place % 3}`] }))
  const rooms = guids.map((guid, place) => ({
    ...{ guid, name: `Group ${place}`, owner: uids[place % people], createdAt: began },
    type: place % 2 === 0 ? 'public' : 'private',
  }))
  const members = guids.flatMap((guid, room) =>
    uids
      .filter((_, place) => (place + room) % 3 !== 0)
      .map((uid) => ({ memberId: `${guid}_member_${uid}`, guid, uid, joinedAt: began + room })),
  )
  const said = Array.from({ length: messages }, (_, place) => {
    const room = draw(groups)
    const isDirect = draw(5) < 3
    let sender = draw(people)
    while (!isDirect && (sender + room) % 3 === 0) sender = (sender + 1) % people
    const receiver = (sender + 1 + draw(people - 1)) % people
    const sentAt = began + 3600 + Math.floor((place / messages) * 80 * 86_400)
    return {
      ...{ muid: `old-${place}`, sender: uids[sender], sentAt, data: { text: `message ${place}` } },
      ...(isDirect
        ? { receiverType: 'user', receiver: uids[receiver], ...(draw(4) > 0 && { readAt: sentAt + draw(600) }) }
        : { receiverType: 'group', receiver: guids[room] }),
    }
  })
  const files = { users, groups: rooms, members, messages: said }
  for (const [name, records] of Object.entries(files))
    await writeFile(join(folder, `${name}.ndjson`), records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  return folder
}
