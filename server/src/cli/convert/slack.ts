import path from 'node:path'
import { ConvertFailure } from './failure.ts'
import type { History, OldFile, OldMessage, Place } from './history.ts'
import {
  addressOf,
  entriesOf,
  type Foreign,
  objectsOf,
  readObjects,
  secondsOf,
  shownBy,
  textOf,
  textsOf,
} from './json.ts'
import type { Reasons } from './reasons.ts'
import { hrefOf, linksIn, slackText } from './slack-text.ts'

/** Kinds of messages that are what somebody said; of the others, the system said that something happened. */
const spoken = new Set(['bot_message', 'me_message', 'thread_broadcast', 'file_share', 'file_comment', 'file_mention'])

/** Converts the folder of an unzipped export of a Slack workspace. @throws ConvertFailure where it is none */
export async function convertSlack(folder: string, history: History, reasons: Reasons): Promise<void> {
  const { files, folders } = await entriesOf(folder)
  const listOf = (name: string) => (files.has(name) ? readObjects(path.join(folder, name)) : Promise.resolve([]))
  const [users, orgUsers, channels, groups, directs, manyDirects] = await Promise.all(
    ['users', 'org_users', 'channels', 'groups', 'dms', 'mpims'].map((name) => listOf(`${name}.json`)),
  )
  if (!files.has('users.json') && !files.has('org_users.json')) {
    throw new ConvertFailure(`${folder} has no users.json: it must be the folder of an unzipped Slack export`)
  }
  for (const user of [...(orgUsers ?? []), ...(users ?? [])]) addPerson(history, user)

  const places: Array<{ place: Place; folder: string; pins: Pins }> = []
  // Some systems write the accents of a name apart from its letters when an export is unpacked.
  const composed = new Map([...folders].map((name) => [name.normalize('NFC'), name]))
  const folderOf = (name: string) => (folders.has(name) ? name : composed.get(name.normalize('NFC')))
  const addChannel = (channel: Foreign, isPrivate: boolean, fallback: string) => {
    const id = textOf(channel.id)
    if (id === undefined) return
    const name = textOf(channel.name) ?? fallback
    if (channel.is_archived === true) reasons.add('archived-channel', name)
    const about = { topic: textOf(channel.topic?.value), purpose: textOf(channel.purpose?.value) }
    const isSaid = Object.values(about).some((text) => text !== undefined)
    history.channel({
      ...{ id, handle: name, name, isPrivate },
      owner: textOf(channel.creator),
      createdAt: secondsOf(channel.created),
      ...(isSaid && { metadata: about }),
      ...(channel.is_archived === true && { tags: ['archived'] }),
    })
    for (const member of textsOf(channel.members)) history.member(id, member)
    places.push({ place: { channel: id }, folder: folderOf(name) ?? id, pins: pinsOf(channel) })
  }
  for (const channel of channels ?? []) addChannel(channel, false, 'channel')
  for (const channel of groups ?? []) addChannel(channel, true, 'group')
  for (const channel of manyDirects ?? []) {
    reasons.add('direct-group', textOf(channel.name) ?? String(channel.id))
    addChannel(channel, true, 'conversation')
  }
  for (const direct of directs ?? []) {
    const id = textOf(direct.id)
    const [one, other] = textsOf(direct.members)
    if (id === undefined || one === undefined) continue
    if (other === undefined || other === one) {
      reasons.add('conversation-with-oneself', id)
      addChannel({ ...direct, creator: one }, true, `notes-${one}`)
    } else places.push({ place: { between: [one, other] }, folder: id, pins: pinsOf(direct) })
  }
  // Only folders that are in the export, whatever a channel is called.
  const unclaimed = new Set(folders)
  for (const { folder: name, ...place } of places) {
    if (!folders.has(name)) continue
    unclaimed.delete(name)
    await convertFolder(path.join(folder, name), place, history, reasons)
  }
  for (const name of unclaimed) {
    if ((await daysIn(path.join(folder, name))).length > 0) reasons.add('folder-without-channel', name)
  }
}

/** Names of the files of a folder of a channel, one for each day. */
async function daysIn(folder: string): Promise<string[]> {
  return [...(await entriesOf(folder)).files].filter((name) => name.endsWith('.json')).sort()
}

/** Who pinned which messages of a channel, by their times. */
type Pins = ReadonlyMap<string, NonNullable<OldMessage['pin']>>

function pinsOf({ pins }: Foreign): Pins {
  return new Map(
    objectsOf(pins).flatMap(({ id, user, created }) => {
      const [message, at] = [textOf(id), secondsOf(created)]
      return message === undefined || at === undefined ? [] : [[message, { by: textOf(user), at }] as const]
    }),
  )
}

function addPerson(history: History, user: Foreign): void {
  const id = textOf(user.id)
  if (id === undefined) return
  const profile: Foreign = user.profile ?? {}
  const handle = textOf(user.name) ?? id
  const title = textOf(profile.title)
  const email = textOf(profile.email)
  history.person({
    ...{ id, handle },
    name: textOf(profile.display_name) ?? textOf(profile.real_name) ?? textOf(user.real_name) ?? handle,
    avatar: addressOf(profile.image_original) ?? addressOf(profile.image_512),
    ...(user.deleted === true && { deactivatedAt: secondsOf(user.updated) ?? 1 }),
    ...((title ?? email) !== undefined && {
      metadata: { ...(title !== undefined && { title }), ...(email !== undefined && { '@private': { email } }) },
    }),
    ...(user.is_bot === true && { tags: ['bot'] }),
  })
}

/** Reads a folder of a channel: a file for each day, named by it. */
async function convertFolder(
  folder: string,
  { place, pins }: { readonly place: Place; readonly pins: Pins },
  history: History,
  reasons: Reasons,
): Promise<void> {
  const days = await daysIn(folder)
  for (const day of days) {
    for (const message of await readObjects(path.join(folder, day))) {
      const converted = convertMessage(message, history, reasons)
      if (converted !== undefined) await history.message(place, { ...converted, pin: pins.get(converted.id) })
    }
  }
}

function convertMessage(message: Foreign, history: History, reasons: Reasons): OldMessage | undefined {
  const { subtype, ts } = message
  const [at, id] = [Number(ts) * 1000, textOf(ts)]
  if (message.type !== 'message' || id === undefined || !(at > 0)) {
    reasons.add('record-not-valid', `${id ?? 'a message'}: it must be a message with a ts`)
    return undefined
  }
  if (subtype === 'tombstone') {
    const sender = textOf(message.user) ?? 'USLACKBOT'
    return { id, sender, at, text: '', deletedAt: Math.floor(at / 1000), ...parentOf(message) }
  }
  if (subtype !== undefined && !spoken.has(subtype)) {
    reasons.add('system-message', `${subtype} ${id}`)
    return undefined
  }
  if (subtype === 'thread_broadcast') reasons.add('shown-in-channel', id)
  const sender = textOf(message.user) ?? textOf(message.bot_id) ?? textOf(message.comment?.user) ?? 'USLACKBOT'
  const said = saidIn(message, history, reasons)
  const reactions = objectsOf(message.reactions).map(({ name, users, count }) => {
    const known = textsOf(users)
    if (Number(count) > known.length) reasons.add('reactions-without-users', `${name} ${id}`)
    return { name: String(name), given: known.map((by) => ({ by })) }
  })
  return {
    ...{ id, sender, at, reactions },
    senderName: textOf(message.username) ?? textOf(message.user_profile?.display_name),
    text: subtype === 'me_message' ? `_${said}_` : said,
    files: filesOf(message, reasons),
    ...parentOf(message),
    editedAt: secondsOf(message.edited?.ts),
  }
}

/** What a message says and, below it, what it shows besides; that is not what a service has found behind a link that it says itself. */
function saidIn({ text, attachments, ts }: Foreign, { uidOf }: History, reasons: Reasons): string {
  const said = textOf(text) ?? ''
  const links = linksIn(said)
  const shown = objectsOf(attachments).filter((attachment) => {
    const address = [attachment.from_url, attachment.original_url]
      .map(addressOf)
      .find((url) => url && links.has(hrefOf(url)))
    if (address !== undefined) reasons.add('link-preview', `${address} of ${ts}`)
    return address === undefined
  })
  const parts = [said, shownBy(shown) ?? ''].filter((part) => part !== '')
  return slackText(parts.join('\n'), uidOf)
}

function parentOf(message: Foreign): { parent?: string } {
  const parent = textOf(message.thread_ts)
  return parent === undefined || parent === message.ts ? {} : { parent }
}

function filesOf(message: Foreign, reasons: Reasons): OldFile[] {
  const files = [...objectsOf(message.files), ...objectsOf([message.file])]
  return files.map((file) => {
    const name = textOf(file.name) ?? textOf(file.title) ?? 'file'
    const isGone = file.mode === 'tombstone' || file.mode === 'hidden_by_limit'
    const url = isGone ? undefined : (addressOf(file.url_private_download) ?? addressOf(file.url_private))
    reasons.add(url === undefined ? 'file-not-in-export' : 'file-link-of-export', `${name} of ${message.ts}`)
    return { name, mimeType: textOf(file.mimetype), size: Number(file.size) || undefined, url }
  })
}
