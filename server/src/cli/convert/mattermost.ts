import { copyFile, mkdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { withEmoji } from './emoji.ts'
import { ConvertFailure } from './failure.ts'
import type { Given, History, OldFile, OldMessage, Place } from './history.ts'
import {
  entriesOf,
  type Foreign,
  objectsOf,
  readLines,
  secondsOf,
  shownBy,
  textOf,
  textsOf,
  withoutEnd,
} from './json.ts'
import type { Reasons } from './reasons.ts'

/** Where the files of an export go. */
export interface Files {
  /** Address at which `files/` of the output is served; undefined where nobody said. */
  readonly address: string | undefined
  readonly folder: string
}

/** Converts the folder of an unzipped bulk export of Mattermost. @throws ConvertFailure where it is none */
export async function convertMattermost(
  folder: string,
  history: History,
  reasons: Reasons,
  files: Files,
): Promise<void> {
  const { files: names } = await entriesOf(folder)
  const [file, ...others] = [...names].filter((name) => name.endsWith('.jsonl'))
  if (file === undefined || others.length > 0) {
    throw new ConvertFailure(`${folder} must have one .jsonl file: it must be the folder of an unzipped bulk export`)
  }
  const channels = new Set<string>()
  /** Members whose direct conversation is a channel here. */
  const directs = new Set<string>()
  const known = new Set<string>()
  const convert = createPosts(folder, history, reasons, files, known)
  // Posts come after people, but are read apart, so that mentions are known to be of people.
  for await (const line of readLines(path.join(folder, file))) {
    if (line.type === 'channel') addChannel(history, channels, line.channel ?? {})
    else if (line.type === 'user' || line.type === 'bot') addPerson(history, line[line.type] ?? {}, known)
    else if (line.type === 'direct_channel') addDirect(history, reasons, directs, line.direct_channel ?? {})
  }
  for await (const line of readLines(path.join(folder, file))) {
    if (line.type === 'post') {
      const { team, channel } = line.post ?? {}
      const id = channelId(team, channel)
      if (channels.has(id)) await convert({ channel: id }, line.post)
      else reasons.add('record-not-valid', `a post: there is no channel ${id}`)
    } else if (line.type === 'direct_post') {
      const people = textsOf(line.direct_post?.channel_members).sort()
      const place = addDirect(history, reasons, directs, { members: people })
      if (place !== undefined) await convert(place, line.direct_post)
    }
  }
}

function channelId(team: unknown, channel: unknown): string {
  return `${team ?? ''}/${channel}`
}

function addChannel(history: History, channels: Set<string>, channel: Foreign): void {
  if (textOf(channel.name) === undefined) return
  const about = { header: textOf(channel.header), purpose: textOf(channel.purpose) }
  const id = channelId(channel.team, channel.name)
  channels.add(id)
  history.channel({
    id,
    handle: channel.name,
    name: textOf(channel.display_name) ?? channel.name,
    isPrivate: channel.type !== 'O',
    ...(Object.values(about).some((text) => text !== undefined) && { metadata: about }),
  })
}

function addPerson(history: History, user: Foreign, known: Set<string>): void {
  const id = textOf(user.username)
  if (id === undefined) return
  known.add(id)
  const full = [user.first_name, user.last_name].filter((name) => textOf(name)).join(' ')
  const [email, position] = [textOf(user.email), textOf(user.position)]
  const deactivatedAt = secondsOf(user.delete_at, 'milliseconds')
  history.person({
    ...{ id, handle: id },
    name: textOf(user.nickname) ?? textOf(full) ?? textOf(user.display_name) ?? id,
    ...(deactivatedAt !== undefined && { deactivatedAt }),
    ...((email ?? position) !== undefined && {
      metadata: {
        ...(position !== undefined && { title: position }),
        ...(email !== undefined && { '@private': { email } }),
      },
    }),
    ...(user.owner !== undefined && { tags: ['bot'] }),
  })
  for (const team of objectsOf(user.teams)) {
    for (const channel of objectsOf(team.channels)) {
      const isAdmin = String(channel.roles ?? '').includes('channel_admin')
      history.member(channelId(team.name, channel.name), id, isAdmin ? 'admin' : 'participant')
    }
  }
}

/** Where people of a direct conversation talk: two with each other, others in a private group; undefined where there is nobody. */
function addDirect(history: History, reasons: Reasons, directs: Set<string>, direct: Foreign): Place | undefined {
  const people = [...textsOf(direct.members), ...objectsOf(direct.participants).map(({ username }) => String(username))]
  const [one = '', other = '', ...rest] = [...new Set(people)].sort()
  if (one !== '' && other !== '' && rest.length === 0) return { between: [one, other] }
  const id = [one, other, ...rest].filter((person) => person !== '').join(' ')
  if (id === '') {
    reasons.add('record-not-valid', 'a direct conversation: it must have members')
    return undefined
  }
  if (!directs.has(id)) {
    directs.add(id)
    const [isOne, name] = [other === '', [one, other, ...rest].filter((person) => person !== '').join(', ')]
    reasons.add(isOne ? 'conversation-with-oneself' : 'direct-group', name)
    history.channel({ id, handle: isOne ? `notes-${one}` : `direct-${directs.size}`, name, isPrivate: true })
    for (const person of [one, other, ...rest]) if (person !== '') history.member(id, person)
  }
  return { channel: id }
}

function createPosts(folder: string, history: History, reasons: Reasons, files: Files, known: ReadonlySet<string>) {
  /** So many posts of a place have the same person and millisecond: they have no ids of their own. */
  const same = new Map<string, number>()
  const textFor = (text: string) =>
    withEmoji(
      text.replace(/(^|[^\w@])@([a-z0-9._-]+)/gi, (whole, before: string, name: string) => {
        // A full stop after a name is the end of a sentence.
        const person = [name, withoutEnd(name, '._-')].find((candidate) => known.has(candidate.toLowerCase()))
        if (person === undefined) return whole
        return `${before}<@uid:${history.uidOf(person.toLowerCase())}>${name.slice(person.length)}`
      }),
    )
  const copied = createCopier(folder, files, reasons)

  const convert = async (place: Place, post: Foreign, parent?: string): Promise<void> => {
    const sender = textOf(post.user)
    const at = Number(post.create_at)
    if (sender === undefined || secondsOf(at, 'milliseconds') === undefined) {
      reasons.add('record-not-valid', `a post of ${sender ?? 'nobody'}: it must have a user and create_at`)
      return
    }
    const key = `${at}-${sender}`
    const whole = `${JSON.stringify(place)} ${key}`
    const count = (same.get(whole) ?? 0) + 1
    same.set(whole, count)
    const id = count === 1 ? key : `${key}-${count}`
    if (typeof post.type === 'string' && post.type.startsWith('system_')) {
      reasons.add('system-message', `${post.type} ${id}`)
      return
    }
    const sentAt = secondsOf(at, 'milliseconds') as number
    if (post.is_pinned === true) reasons.add('pinned-message', id)
    const savers = textsOf(post.flagged_by)
    if (savers.length > 0) reasons.add('saved-message', id)
    const message: OldMessage = {
      ...{ id, sender, at },
      text: textFor([textOf(post.message), shownBy(post.props?.attachments)].filter(Boolean).join('\n')),
      files: await Promise.all(objectsOf(post.attachments).map((attachment) => copied(textOf(attachment.path) ?? ''))),
      reactions: reactionsOf(post),
      ...(parent !== undefined && { parent }),
      editedAt: secondsOf(post.edit_at, 'milliseconds'),
      ...(post.is_pinned === true && { pin: { by: undefined, at: sentAt } }),
      saves: savers.map((by) => ({ by })),
    }
    await history.message(place, message)
    for (const reply of objectsOf(post.replies)) await convert(place, reply, id)
  }
  return (place: Place, post: Foreign) => convert(place, post)
}

function reactionsOf(post: Foreign): Array<{ name: string; given: Given[] }> {
  const byName = new Map<string, Given[]>()
  for (const { emoji_name: name, user, create_at: at } of objectsOf(post.reactions)) {
    if (typeof name !== 'string' || typeof user !== 'string') continue
    byName.set(name, [...(byName.get(name) ?? []), { by: user, at: secondsOf(at, 'milliseconds') }])
  }
  return [...byName].map(([name, given]) => ({ name, given }))
}

/** @returns copies a file of the export, and says where it is found */
function createCopier(folder: string, files: Files, reasons: Reasons) {
  const data = path.join(folder, 'data')
  return async (name: string): Promise<OldFile> => {
    const file = { name: path.basename(name) || 'file', url: undefined }
    if (files.address === undefined) {
      reasons.add('file-without-address', name)
      return file
    }
    const source = path.resolve(data, name)
    const found = (await isInside(data, source)) ? await stat(source).catch(() => undefined) : undefined
    if (found?.isFile() !== true) {
      reasons.add('file-not-in-export', name)
      return file
    }
    const relative = path.relative(data, source)
    const target = path.join(files.folder, relative)
    await mkdir(path.dirname(target), { recursive: true })
    await copyFile(source, target)
    const url = `${files.address}/${relative.split(path.sep).map(encodeURIComponent).join('/')}`
    return { ...file, mimeType: mimeTypeOf(file.name), size: found.size, url }
  }
}

/** An export that somebody else has made must not reach other files of this machine, neither by a path nor by a link. */
async function isInside(folder: string, file: string): Promise<boolean> {
  if (!file.startsWith(`${path.resolve(folder)}${path.sep}`)) return false
  const [home, found] = await Promise.all([folder, file].map((name) => realpath(name).catch(() => undefined)))
  return home !== undefined && found?.startsWith(`${home}${path.sep}`) === true
}

const mimeTypes: Readonly<Record<string, string>> = {
  ...{ '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.png': 'image/png', '.gif': 'image/gif', '.webp': 'image/webp' },
  ...{ '.mp4': 'video/mp4', '.webm': 'video/webm', '.mov': 'video/quicktime', '.mp3': 'audio/mpeg' },
  ...{ '.ogg': 'audio/ogg', '.wav': 'audio/wav', '.m4a': 'audio/mp4', '.pdf': 'application/pdf', '.txt': 'text/plain' },
}

/** By the end of the name, since the export does not say it. */
function mimeTypeOf(name: string): string | undefined {
  return mimeTypes[path.extname(name).toLowerCase()]
}
