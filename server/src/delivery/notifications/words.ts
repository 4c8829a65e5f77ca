import type { Message, NotificationSettings, TemplateKind, User } from '@parley/contract'
import { fill, fillLoosely } from '../../chat/notifications/template.ts'

/** What a notification says. */
export interface Words {
  readonly title: string
  readonly body: string
}

type Templates = NotificationSettings['templates']

interface Reading {
  readonly templates: Templates
  readonly isPrivate: boolean
  readonly isGroup: boolean
}

const bodyOfMedia = { image: 'body_image', audio: 'body_audio', video: 'body_video' } as const

/** The words about a message, by the template of its kind. @param uid who is notified */
export function wordsOfMessage(message: Message, uid: string, reading: Reading): Words {
  const kind = kindOf(message, uid)
  const version = reading.isPrivate ? 'Privacy' : 'Default'
  const template = reading.templates[`${kind}${version}`]
  const data = { message: withReadableText(message) }
  const title = template[reading.isGroup ? 'titleGroup' : 'titleOneOnOne'] ?? ''
  const body = template[bodyMemberOf(kind, message, reading.isGroup)] ?? ''
  const filled = fill(body, data) ?? fill(template.body_fallback ?? '', data) ?? fillLoosely(body, data)
  return { title: fillLoosely(title, data), body: filled }
}

function kindOf(message: Message, uid: string): TemplateKind {
  const { category, type, data } = message
  if (Object.hasOwn((data.mentions as object | undefined) ?? {}, uid)) return 'userMentionTemplate'
  if (message.receiverType === 'group' && typeof data.text === 'string' && data.text.includes('<@all:')) {
    return 'groupMentionTemplate'
  }
  if (category === 'interactive') {
    if (type === 'form') return 'interactiveFormTemplate'
    if (type === 'card') return 'interactiveCardTemplate'
    return type === 'scheduler' ? 'interactiveSchedulerTemplate' : 'interactiveCustomTemplate'
  }
  if (category === 'custom') {
    if (type === 'extension_poll') return 'pollMessageTemplate'
    return type === 'extension_reminders' ? 'reminderMessageTemplate' : 'customMessageTemplate'
  }
  return type === 'text' ? 'textMessageTemplate' : 'mediaMessageTemplate'
}

function bodyMemberOf(kind: TemplateKind, { type }: Message, isGroup: boolean): string {
  if (kind === 'userMentionTemplate') return isGroup ? 'bodyGroup' : 'bodyOneOnOne'
  if (kind !== 'mediaMessageTemplate') return 'body'
  return Object.hasOwn(bodyOfMedia, type) ? bodyOfMedia[type as keyof typeof bodyOfMedia] : 'body_file'
}

/** Mentions are written with ids; people know names. */
function withReadableText(message: Message): Message {
  const { text, mentions } = message.data
  if (typeof text !== 'string' || !text.includes('<@')) return message
  const named = (mentions ?? {}) as Readonly<Record<string, Pick<User, 'name'>>>
  const readable = text
    .replaceAll(/<@uid:([A-Za-z0-9_-]{1,100})>/g, (_, uid: string) => `@${named[uid.toLowerCase()]?.name ?? uid}`)
    .replaceAll(/<@all:[^<>]{0,100}>/g, '@all')
  return { ...message, data: { ...message.data, text: readable } }
}

/** @param reaction absent where it is known no more, or not to be shown */
export function wordsOfReaction(by: string, isOwn: boolean, reaction: string | undefined): Words {
  const what = isOwn ? 'Reacted to your message' : 'Reacted to a message'
  return { title: by, body: reaction === undefined ? what : `${what}: ${reaction}` }
}

export const deletedBody = 'This message was deleted'

/** The words about members of a group. @param by who did it; absent where they did it themselves */
export function wordsOfMembers(event: string, group: string, members: string, by: string | undefined): Words {
  const bodies: Readonly<Record<string, string>> = {
    group_member_joined: `${members} joined`,
    group_member_left: `${members} left`,
    group_member_added: `${by} added ${members}`,
    group_member_kicked: `${by} removed ${members}`,
    group_member_banned: `${by} banned ${members}`,
    group_member_unbanned: `${by} unbanned ${members}`,
    group_member_scope_changed: `${by} changed the role of ${members}`,
  }
  return { title: group, body: bodies[event] ?? '' }
}
