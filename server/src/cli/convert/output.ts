import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { finished } from 'node:stream/promises'
import { type ImportKind, importChecks, limits } from '@parley/contract'
import { emojiOf } from './emoji.ts'
import { ConvertFailure } from './failure.ts'
import type { Channel, History, OldFile, OldMessage, Person, Place } from './history.ts'
import type { IdTable } from './ids.ts'
import type { Reasons } from './reasons.ts'
import { createSpool } from './spool.ts'

/** Bytes of JSON that a text may have, so that there is room for what stands around it in `data`. */
const mostTextBytes = limits.messageDataBytes - 512

/** A message on its way to messages.ndjson, before it is known what stands before it. */
interface Row {
  readonly at: number
  readonly id: string
  readonly parent?: string
  readonly quoted?: string
  /** The place, as part of its muid. */
  readonly place: string
  readonly record: Record<string, unknown>
}

/** As an import takes it: with its time, or who reacted alone. */
type ImportedReaction = string | { readonly uid: string; readonly reactedAt: number }

interface Membership {
  readonly channel: string
  readonly person: string
  readonly scope: string
}

/** How many records of each kind there are in the folder. */
export type Counts = Record<ImportKind, number>

export interface Output extends History {
  /** Writes the folder, and gives it its name. */
  finish(source: string): Promise<Counts>
  /** Removes what was written so far. */
  discard(): Promise<void>
  /** Where files go while the folder is made; they are found at `files/` in the end. */
  readonly filesFolder: string
}

/**
 * Makes an import folder. Nothing bears its name before it is whole.
 * @param now epoch seconds, when people whom the export does not describe are deactivated
 * @throws ConvertFailure where there is something already
 */
export async function createOutput(folder: string, ids: IdTable, reasons: Reasons, now: number): Promise<Output> {
  if ((await readdir(folder).catch(() => [])).length > 0) throw new ConvertFailure(`${folder} is not empty`)
  const partial = `${folder}.partial`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true })
  const spool = createSpool<Row>(path.join(partial, 'spool'))
  const people = new Map<string, Record<string, unknown>>()
  const channels = new Map<string, Record<string, unknown>>()
  const members = new Map<string, Membership>()

  const named = (name: string, whose: string) => {
    const points = [...name]
    if (points.length <= limits.nameLength) return name
    reasons.add('shortened-name', whose)
    return points.slice(0, limits.nameLength).join('')
  }
  const uidOf = (person: string, name?: string): string => {
    const found = ids.find('user', person)
    if (people.has(person) && found !== undefined) return found
    reasons.add('user-not-in-export', person)
    const uid = ids.idOf('user', person, name ?? person)
    people.set(person, { uid, name: named(name || person, person), deactivatedAt: now })
    return uid
  }
  const guidOf = (channel: string) => {
    const guid = ids.find('group', channel)
    if (guid === undefined || !channels.has(channel)) throw new ConvertFailure(`there is no channel ${channel}`)
    return guid
  }

  const contentOf = (message: OldMessage): Record<string, unknown>[] => {
    const files = message.files ?? []
    const attachments = files.filter(({ url }) => url !== undefined).map(attachmentOf)
    const absent = files.filter(({ url }) => url === undefined).map(({ name }) => `[${name}]`)
    const text = [message.text, ...absent].filter((part) => part !== '').join('\n')
    const texts = splitText(text)
    if (texts.length > 1) reasons.add('split-message', message.id)
    const groups = chunks(attachments, limits.filesPerMessage)
    if (groups.length === 0) return texts.map((part) => ({ type: 'text', data: { text: part } }))
    const media = groups.map((group, index) => ({
      type: mediaTypeOf(group),
      data: { ...(index === 0 && texts[0] !== undefined && { text: texts[0] }), attachments: group },
    }))
    return [...media, ...texts.slice(1).map((part) => ({ type: 'text', data: { text: part } }))]
  }
  const reactionsOf = ({ reactions = [], id }: OldMessage): Record<string, ImportedReaction[]> | undefined => {
    const byReaction = new Map<string, Map<string, ImportedReaction>>()
    for (const { name, given } of reactions) {
      const emoji = emojiOf(name)
      if (emoji === undefined) reasons.add('custom-emoji', name)
      const reaction = emoji ?? [...`:${name}:`].slice(0, limits.reactionLength).join('')
      const known = byReaction.get(reaction) ?? new Map()
      for (const { by, at } of given) {
        const uid = uidOf(by)
        if (!known.has(uid)) known.set(uid, at === undefined ? uid : { uid, reactedAt: at })
      }
      if (known.size > 0) byReaction.set(reaction, known)
    }
    if (byReaction.size > limits.reactionsPerMessage) reasons.add('too-many-reactions', id)
    if (byReaction.size === 0) return undefined
    return Object.fromEntries(
      [...byReaction].slice(0, limits.reactionsPerMessage).map(([reaction, known]) => [reaction, [...known.values()]]),
    )
  }
  /** Who pinned and who saved it; the time of the message stands for one that the export does not have. */
  const keptOf = ({ pin, saves = [], at }: OldMessage) => {
    const sentAt = Math.floor(at / 1000)
    return defined({
      pinnedAt: pin?.at,
      pinnedBy: pin?.by === undefined ? undefined : uidOf(pin.by),
      savedBy: saves.length === 0 ? undefined : Object.fromEntries(saves.map(({ by, at = sentAt }) => [uidOf(by), at])),
    })
  }
  /** Everything that import would refuse is found here, where the export has words for it. */
  const isValid = (kind: ImportKind, record: object, whose: string): boolean => {
    const flaws = importChecks[kind](record, { now: Math.max(now, Math.floor(Date.now() / 1000)) })
    if (flaws.length === 0) return true
    reasons.add('record-not-valid', `${whose}: ${flaws.map(({ path: at, message }) => `${at} ${message}`).join('; ')}`)
    return false
  }

  return {
    filesFolder: path.join(partial, 'files'),
    uidOf,
    person(person: Person) {
      const { id, handle, name, avatar, createdAt, deactivatedAt, metadata, tags } = person
      const uid = ids.idOf('user', id, handle)
      people.set(id, {
        uid,
        name: named(name || handle || uid, id),
        ...defined({ avatar, createdAt, deactivatedAt, metadata, tags }),
      })
    },
    channel(channel: Channel) {
      const { id, handle, name, isPrivate, owner, createdAt, metadata, tags } = channel
      const guid = ids.idOf('group', id, handle)
      channels.set(id, {
        guid,
        name: named(name || handle || guid, id),
        type: isPrivate ? 'private' : 'public',
        ...defined({ owner: owner === undefined ? undefined : uidOf(owner), createdAt, metadata, tags }),
      })
    },
    member(channel, person, scope = 'participant') {
      members.set(`${channel} ${person}`, { channel, person, scope })
    },
    async message(place, message) {
      const sender = uidOf(message.sender, message.senderName)
      const to = receiverOf(place, message.sender, { uidOf, guidOf })
      const base = { sender, ...to, sentAt: Math.floor(message.at / 1000) }
      const key = 'channel' in place ? place.channel : [...place.between].sort().join(' ')
      const row = { at: message.at, place: key, ...(message.parent !== undefined && { parent: message.parent }) }
      if (message.deletedAt !== undefined) {
        reasons.add('deleted-message', message.id)
        await spool.add(key, { ...row, id: message.id, record: { ...base, deletedAt: message.deletedAt } })
        return
      }
      const contents = contentOf(message)
      if (contents.length === 0) return reasons.add('empty-message', message.id)
      const reactions = reactionsOf(message)
      for (const [index, content] of contents.entries()) {
        const own = index === 0 ? { ...defined({ reactions, editedAt: message.editedAt }), ...keptOf(message) } : {}
        const id = index === 0 ? message.id : `${message.id}+${index + 1}`
        const quoted = index === 0 && message.quoted !== undefined ? { quoted: message.quoted } : {}
        await spool.add(key, { ...row, ...quoted, id, record: { ...base, ...content, ...own } })
      }
    },
    async finish(source) {
      const counts: Counts = { users: 0, groups: 0, members: 0, messages: 0 }
      const write = async (kind: ImportKind, stream: WriteStream, record: object, whose: string) => {
        if (!isValid(kind, record, whose)) return false
        counts[kind]++
        if (!stream.write(`${JSON.stringify(record)}\n`)) await once(stream, 'drain')
        return true
      }
      const into = async (kind: ImportKind, fill: (put: Put) => unknown) => {
        const stream = createWriteStream(path.join(partial, `${kind}.ndjson`), { mode: 0o600 })
        await fill((record, whose) => write(kind, stream, record, whose))
        stream.end()
        await finished(stream)
      }
      // Messages are looked at first, since they may name people whom nothing else does.
      await into('messages', async (put) => {
        for await (const rows of spool.read()) await putInOrder(rows, source, reasons, put)
      })
      await into('users', async (put) => {
        for (const [id, record] of people) await put(record, id)
      })
      await into('groups', async (put) => {
        for (const [id, record] of channels) await put(record, id)
      })
      await into('members', async (put) => {
        for (const { channel, person, scope } of members.values()) {
          const [guid, uid] = [ids.find('group', channel), ids.find('user', person)]
          if (guid === undefined || uid === undefined || !people.has(person) || !channels.has(channel)) {
            reasons.add('member-without-user', `${person} in ${channel}`)
            continue
          }
          const joinedAt = channels.get(channel)?.createdAt
          await put(
            { memberId: `${guid}_member_${uid}`, guid, uid, scope, ...defined({ joinedAt }) },
            `${person} in ${channel}`,
          )
        }
      })
      await spool.remove()
      const table = [...ids.entries()].map((entry) => `${JSON.stringify(entry)}\n`)
      await writeFile(path.join(partial, 'ids.ndjson'), table.join(''), { mode: 0o600 })
      const report = { source, records: counts, reasons: reasons.list() }
      await writeFile(path.join(partial, 'report.json'), `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 })
      await rm(folder, { recursive: true, force: true })
      await rename(partial, folder)
      return counts
    },
    discard: () => rm(partial, { recursive: true, force: true }),
  }
}

/** Writes a record. @returns whether it is valid, and so is there now */
type Put = (record: object, whose: string) => Promise<boolean>

/**
 * Writes the messages of a place in the order of time, threads below messages that are there, and quotes beside them. What
 * somebody else said between two people becomes a conversation of its own: threads and quotes do not lead there.
 */
async function putInOrder(rows: Row[], source: string, reasons: Reasons, put: Put): Promise<void> {
  rows.sort((one, other) => one.at - other.at)
  /** The message that begins the thread of each message, and the conversation that they are in. */
  const written = new Map<string, { readonly root: string; readonly conversation: string }>()
  for (const { id, parent, quoted, place, record } of rows) {
    const muid = muidOf(source, place, id)
    const conversation = conversationOf(record)
    const find = (other: string | undefined) => {
      const found = other === undefined ? undefined : written.get(other)
      return found?.conversation === conversation ? found : undefined
    }
    const isQuoting = find(quoted) !== undefined
    if (quoted !== undefined && !isQuoting) reasons.add('quote-without-message', id)
    const root = find(parent)?.root
    if (parent !== undefined && root === undefined) reasons.add('reply-without-thread', id)
    const others = {
      ...(root !== undefined && { parentMuid: muidOf(source, place, root) }),
      ...(isQuoting && quoted !== undefined && { quotedMuid: muidOf(source, place, quoted) }),
    }
    const isWritten = await put({ muid, ...record, ...others }, id)
    if (isWritten && !written.has(id)) written.set(id, { root: root ?? id, conversation })
  }
}

function conversationOf({ receiverType, receiver, sender }: Row['record']): string {
  return receiverType === 'group' ? `${receiver}` : [sender, receiver].sort().join(' ')
}

/** The same in every run, so that an import can be repeated. Very long ones are a digest. */
function muidOf(source: string, place: string, id: string): string {
  const muid = `${source}/${place}/${id}`
  return muid.length <= 200 ? muid : `${source}/${createHash('sha256').update(muid).digest('hex')}`
}

function receiverOf(
  place: Place,
  sender: string,
  { uidOf, guidOf }: { uidOf(person: string): string; guidOf(channel: string): string },
) {
  if ('channel' in place) return { receiverType: 'group', receiver: guidOf(place.channel) }
  const [one, other] = place.between
  return { receiverType: 'user', receiver: uidOf(sender === one ? other : one) }
}

function attachmentOf({ name, mimeType, size, url }: OldFile) {
  const extension = path.extname(name).slice(1)
  return { url, name, mimeType: mimeType || 'application/octet-stream', extension, ...defined({ size }) }
}

/** Of files of several kinds, the kind that is shown is "file". */
function mediaTypeOf(attachments: ReadonlyArray<{ readonly mimeType: string }>): string {
  const [kind, ...others] = new Set(attachments.map(({ mimeType }) => mimeType.split('/')[0]))
  return others.length === 0 && ['image', 'video', 'audio'].includes(kind ?? '') ? (kind as string) : 'file'
}

/** Cuts a text where a message would be too long: at the end of a line or word, if there is one near. */
function splitText(text: string): string[] {
  const parts: string[] = []
  let rest = text.trim()
  while (rest !== '') {
    const fits = cutAt(rest)
    parts.push(rest.slice(0, fits).trimEnd())
    rest = rest.slice(fits).trimStart()
  }
  return parts
}

function cutAt(text: string): number {
  const isShort = (length: number) => Buffer.byteLength(JSON.stringify(text.slice(0, length))) <= mostTextBytes
  if (isShort(text.length)) return text.length
  let [least, most] = [1, Math.min(text.length, mostTextBytes)]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (isShort(middle)) least = middle
    else most = middle - 1
  }
  const near = text.slice(0, least)
  const gap = Math.max(near.lastIndexOf('\n'), near.lastIndexOf(' '))
  if (gap > least * 0.8) return gap
  // Never between the halves of a character.
  return /[\uD800-\uDBFF]$/.test(near) ? least - 1 : least
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size))
}

/** Without members that are undefined. */
function defined<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>
}
