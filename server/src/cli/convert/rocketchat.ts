import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { Binary, deserialize } from 'bson'
import { writeAll } from '../write-all.ts'
import { withEmoji } from './emoji.ts'
import { ConvertFailure } from './failure.ts'
import type { History, OldFile, OldMessage, Place } from './history.ts'
import { entriesOf, type Foreign, objectsOf, shownBy, textOf, textsOf, withoutEnd } from './json.ts'
import type { Files } from './mattermost.ts'
import type { Reasons } from './reasons.ts'

/** MongoDB takes no larger document. */
const mostDocumentBytes = 16 * 1024 * 1024 + 16 * 1024

/** Converts the folder of a mongodump of Rocket.Chat's database. @throws ConvertFailure where it is none */
export async function convertRocketChat(
  folder: string,
  history: History,
  reasons: Reasons,
  files: Files,
): Promise<void> {
  const { files: names } = await entriesOf(folder)
  for (const name of ['users', 'rocketchat_room', 'rocketchat_message', 'rocketchat_subscription']) {
    if (!names.has(`${name}.bson`)) throw new ConvertFailure(`${folder} has no ${name}.bson: it must be a mongodump`)
  }
  const documents = (name: string) =>
    names.has(`${name}.bson`) ? readDocuments(path.join(folder, `${name}.bson`)) : none()

  /** Ids by name, since reactions have names only. */
  const byName = new Map<string, string>()
  for await (const user of documents('users')) addPerson(history, user, byName)
  const places = new Map<string, Place>()
  for await (const room of documents('rocketchat_room')) addRoom(history, reasons, room, byName, places)
  for await (const { rid, u, roles } of documents('rocketchat_subscription')) {
    const place = places.get(rid)
    if (place === undefined || !('channel' in place) || textOf(u?._id) === undefined) continue
    const scopes = textsOf(roles)
    const scope = scopes.includes('owner') ? 'admin' : scopes.includes('moderator') ? 'moderator' : 'participant'
    history.member(rid, u._id, scope)
  }
  const urls = await extractFiles(documents, files)
  for await (const message of documents('rocketchat_message')) {
    const place = places.get(message.rid)
    if (place === undefined) reasons.add('record-not-valid', `${message._id}: there is no room ${message.rid}`)
    else {
      const converted = convertMessage(message, history, reasons, byName, { urls, address: files.address })
      if (converted !== undefined) await history.message(place, converted)
    }
  }
}

async function* none(): AsyncGenerator<Foreign> {}

/** Reads documents that stand back to back, each with its length before it. */
async function* readDocuments(file: string): AsyncGenerator<Foreign> {
  let rest: Buffer = Buffer.alloc(0)
  let at = 0
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    while (rest.length - start >= 4) {
      const length = rest.readInt32LE(start)
      if (length < 5 || length > mostDocumentBytes) throw new ConvertFailure(`${file} is damaged at byte ${at + start}`)
      if (rest.length - start < length) break
      try {
        yield deserialize(rest.subarray(start, start + length)) as Foreign
      } catch (error) {
        throw new ConvertFailure(`${file} is damaged at byte ${at + start}: ${(error as Error).message}`)
      }
      start += length
    }
    rest = rest.subarray(start)
    at += start
  }
  if (rest.length > 0) throw new ConvertFailure(`${file} ends within a document, at byte ${at}`)
}

function addPerson(history: History, user: Foreign, byName: Map<string, string>): void {
  const id = textOf(user._id)
  if (id === undefined) return
  const handle = textOf(user.username) ?? id
  byName.set(handle, id)
  const email = textOf(objectsOf(user.emails)[0]?.address)
  history.person({
    ...{ id, handle },
    name: textOf(user.name) ?? handle,
    createdAt: timeOf(user.createdAt),
    ...(user.active === false && { deactivatedAt: timeOf(user._updatedAt) ?? 1 }),
    ...(email !== undefined && { metadata: { '@private': { email } } }),
    ...(user.type === 'bot' && { tags: ['bot'] }),
  })
}

function addRoom(
  history: History,
  reasons: Reasons,
  room: Foreign,
  byName: ReadonlyMap<string, string>,
  places: Map<string, Place>,
): void {
  const id = textOf(room._id)
  if (id === undefined) return
  const people = textsOf(room.uids).length > 0 ? textsOf(room.uids) : peopleOf(textsOf(room.usernames), byName)
  const [one, other, ...more] = [...new Set(people)]
  if (room.t === 'd' && one !== undefined && other !== undefined && more.length === 0) {
    places.set(id, { between: [one, other] })
    return
  }
  if (room.t === 'd') reasons.add(other === undefined ? 'conversation-with-oneself' : 'direct-group', id)
  if (room.archived === true) reasons.add('archived-channel', textOf(room.name) ?? id)
  const names = textsOf(room.usernames)
  const name = textOf(room.fname) ?? textOf(room.name) ?? textOf(names.join(', ')) ?? id
  const about = { topic: textOf(room.topic), description: textOf(room.description) }
  history.channel({
    ...{ id, name, isPrivate: room.t !== 'c' },
    handle:
      room.t === 'd' ? (other === undefined ? `notes-${names[0] ?? id}` : `direct-${id}`) : (textOf(room.name) ?? id),
    createdAt: timeOf(room.ts),
    ...(Object.values(about).some((text) => text !== undefined) && { metadata: about }),
    ...(room.archived === true && { tags: ['archived'] }),
  })
  for (const person of people) history.member(id, person)
  places.set(id, { channel: id })
}

function peopleOf(names: readonly string[], byName: ReadonlyMap<string, string>): string[] {
  return names.map((name) => byName.get(name) ?? name)
}

const linkWithoutText = /^\[ ?\]\((https?:\/\/[^)\s]{1,2000})\)\s*/

/** A message that quotes another begins with a link to that, which has no text. */
function withoutQuote(text: string | undefined): { readonly quoted?: string; readonly said: string | undefined } {
  const [link = '', address = ''] = linkWithoutText.exec(text ?? '') ?? []
  const quoted = URL.canParse(address) ? textOf(new URL(address).searchParams.get('msg')) : undefined
  return quoted === undefined ? { said: text } : { quoted, said: textOf(text?.slice(link.length)) }
}

function convertMessage(
  message: Foreign,
  history: History,
  reasons: Reasons,
  byName: ReadonlyMap<string, string>,
  files: { readonly urls: ReadonlyMap<string, OldFile>; readonly address: string | undefined },
): OldMessage | undefined {
  const [id, sender, at] = [textOf(message._id), textOf(message.u?._id), Number(message.ts)]
  if (id === undefined || sender === undefined || !(at > 0)) {
    reasons.add('record-not-valid', `${id ?? 'a message'}: it must have an id, a sender and a time`)
    return undefined
  }
  if (message._hidden === true) {
    reasons.add('hidden-message', id)
    return undefined
  }
  const parent = textOf(message.tmid)
  const base = {
    ...{ id, sender, at },
    senderName: textOf(message.u.username),
    ...(parent !== undefined && { parent }),
  }
  if (message.t === 'rm') return { ...base, text: '', deletedAt: timeOf(message.editedAt) ?? Math.floor(at / 1000) }
  if (message.t === 'e2e') {
    reasons.add('encrypted-message', id)
    return undefined
  }
  if (textOf(message.t) !== undefined) {
    reasons.add('system-message', `${message.t} ${id}`)
    return undefined
  }
  if (message.tshow === true && parent !== undefined) reasons.add('shown-in-channel', id)
  const pin = pinOf(message, at)
  if (pin !== undefined && pin.by === undefined) reasons.add('pinned-message', id)
  const savers = objectsOf(message.starred).flatMap(({ _id }) => textOf(_id) ?? [])
  if (savers.length > 0) reasons.add('saved-message', id)
  const { quoted, said: own } = withoutQuote(textOf(message.msg))
  const said = [own, ...objectsOf(message.attachments).map(textOfAttachment)]
  return {
    ...base,
    text: withMentions(said.filter((text) => text !== undefined).join('\n'), message, history),
    files: filesOf(message, reasons, files),
    quoted,
    reactions: Object.entries((message.reactions ?? {}) as Record<string, Foreign | null>).map(([name, of]) => {
      const people = peopleOf(textsOf(of?.usernames), byName)
      return { name: name.replace(/^:|:$/g, ''), given: people.map((by) => ({ by })) }
    }),
    editedAt: timeOf(message.editedAt),
    pin,
    saves: savers.map((by) => ({ by })),
  }
}

/** Those of quotes have the text of another message, those of files the name of a file, which both stand elsewhere. */
function textOfAttachment(attachment: Foreign): string | undefined {
  const { message_link: quoted, type, description } = attachment
  if (textOf(quoted) !== undefined) return undefined
  if (type === 'file') return textOf(description)
  return textOf([shownBy([attachment]), textOf(description)].filter((text) => text !== undefined).join('\n'))
}

/** @param sentAt epoch milliseconds, for a pin of which nobody knows when */
function pinOf({ pinned, pinnedAt, pinnedBy }: Foreign, sentAt: number): OldMessage['pin'] {
  if (pinned !== true) return undefined
  const at = timeOf(pinnedAt)
  const by = textOf(pinnedBy?._id)
  return at === undefined || by === undefined ? { by: undefined, at: Math.floor(sentAt / 1000) } : { by, at }
}

/** The message itself says who is mentioned, so anything else after an @ stays. */
function withMentions(text: string, message: Foreign, history: History): string {
  const mentioned = new Map(objectsOf(message.mentions).map(({ username, _id }) => [username, _id]))
  const replaced = text.replace(/@([\w.-]+)/g, (whole, name: string) => {
    const handle = [name, withoutEnd(name, '.-')].find((candidate) => textOf(mentioned.get(candidate)))
    if (handle === undefined || handle === 'all' || handle === 'here') return whole
    return `<@uid:${history.uidOf(mentioned.get(handle), handle)}>${name.slice(handle.length)}`
  })
  return withEmoji(replaced)
}

function filesOf(
  message: Foreign,
  reasons: Reasons,
  { urls, address }: { readonly urls: ReadonlyMap<string, OldFile>; readonly address: string | undefined },
): OldFile[] {
  const files = objectsOf(message.files).length > 0 ? objectsOf(message.files) : objectsOf([message.file])
  // Small pictures of pictures are made again by whoever shows them.
  const own = files.filter(({ typeGroup, name }) => typeGroup !== 'thumb' && !String(name).startsWith('thumb-'))
  return own.map((file) => {
    const name = textOf(file.name) ?? 'file'
    const found = urls.get(file._id)
    if (found === undefined) reasons.add(address === undefined ? 'file-without-address' : 'file-not-in-export', name)
    return found ?? { name, mimeType: textOf(file.type), url: undefined }
  })
}

/** Takes files out of the database, if they are in it. @returns where each is found, by its id */
async function extractFiles(documents: (name: string) => AsyncGenerator<Foreign>, files: Files) {
  const found = new Map<string, OldFile>()
  if (files.address === undefined) return found
  const expected = new Map<string, { readonly bytes: number; readonly chunk: number; readonly target: string }>()
  for await (const file of documents('rocketchat_uploads.files')) {
    expected.set(String(file._id), {
      bytes: Number(file.length),
      chunk: Number(file.chunkSize),
      target: path.join(files.folder, `${expected.size + 1}`),
    })
  }
  const written = new Map<string, number>()
  for await (const { files_id, n, data } of documents('rocketchat_uploads.chunks')) {
    const file = expected.get(String(files_id))
    if (file === undefined || !(data instanceof Binary)) continue
    const [length, at] = [data.length(), Number(n) * file.chunk]
    // What lies beyond its end is no part of a file.
    if (!Number.isSafeInteger(at) || at < 0 || !(at + length <= file.bytes)) continue
    await mkdir(files.folder, { recursive: true })
    const handle = await open(file.target, (written.get(file.target) ?? 0) === 0 ? 'w' : 'r+')
    try {
      await writeAll(handle, data.buffer.subarray(0, length), at)
      written.set(file.target, (written.get(file.target) ?? 0) + length)
    } finally {
      await handle.close()
    }
  }
  for await (const upload of documents('rocketchat_uploads')) {
    const file = expected.get(String(upload._id))
    // One that is not whole is none.
    if (file === undefined || written.get(file.target) !== file.bytes) continue
    const name = textOf(upload.name) ?? 'file'
    const url = `${files.address}/${path.basename(file.target)}`
    found.set(String(upload._id), { name, mimeType: textOf(upload.type), size: file.bytes, url })
  }
  return found
}

function timeOf(value: unknown): number | undefined {
  const seconds = Math.floor(Number(value instanceof Date ? value : undefined) / 1000)
  return seconds > 0 ? seconds : undefined
}
