import type { Channel, Message, NotificationReason, NotificationSettingsIn, User } from '@parley/contract'
import type { AppSettingsStore } from '../../chat/app-settings.ts'
import { type GroupRow, readGroups, showGroup } from '../../chat/groups/rows.ts'
import type { App } from '../../chat/identity.ts'
import { conversationId, orderPair } from '../../chat/naming.ts'
import { decide, type StoredGate, storedGate } from '../../chat/notifications/decide.ts'
import { privacyOf } from '../../chat/notifications/preferences.ts'
import { merge, type NotificationSettingsStore } from '../../chat/notifications/settings.ts'
import { notHeldIn } from '../../chat/sight/participation.ts'
import { readUsers, showUserOrDeleted, type UserRow } from '../../chat/users/rows.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { readCandidates } from './candidates.ts'
import type { Happened } from './happenings.ts'
import { channelsOf, isChosen } from './plan.ts'
import { contentOf } from './unread/content.ts'
import { wordsOfMessage } from './words.ts'

export interface PreviewOptions {
  readonly database: Database
  readonly settings: AppSettingsStore
  readonly notificationSettings: NotificationSettingsStore
  readonly now: () => number
}

/** A message that nobody sent. */
export interface Imagined {
  readonly sender: string
  readonly receiver: string
  readonly receiverType: 'user' | 'group'
  readonly category?: string
  readonly type?: string
  readonly data: Readonly<Record<string, unknown>>
  readonly parentId?: number | string
  readonly quotedMessageId?: number | string
  /** In place of those that are saved. */
  readonly templates?: NonNullable<NotificationSettingsIn['templates']>
}

export interface Previewed {
  readonly uid: string
  readonly channel: Channel
  readonly provider: string
  readonly providerId: string
  readonly tokenType?: string
  readonly notificationTriggered: boolean
  readonly reason?: NotificationReason
  readonly gates: readonly StoredGate[]
  readonly title: string
  readonly body: string
}

const mostShown = 100

/** Who would be notified of a message, and how, as things are now. Nothing is sent or stored. */
export async function preview(
  { database, settings, notificationSettings, now }: PreviewOptions,
  { appId }: Pick<App, 'appId'>,
  imagined: Imagined,
): Promise<Previewed[]> {
  const [saved, defaults, { message, users, group }] = await Promise.all([
    notificationSettings.of(appId),
    settings.of(appId),
    messageOf(database, appId, imagined),
  ])
  const { templates = {} } = imagined
  const app = { ...saved, settings: merge(saved.settings, { templates }) }
  const happened = await happenedOf(database, appId, imagined, message)
  if (happened === undefined || channelsOf(happened, defaults).length === 0) return []
  const candidates = await readCandidates(database, appId, [happened], {
    isChosen: (one) => isChosen(app, one),
    channelsOf: (one) => channelsOf(one, defaults),
    ...{ after: { event: 0, uid: '' }, limit: mostShown },
  })
  const recipients = await readUsers(
    database,
    appId,
    candidates.map(({ recipient }) => recipient.uid),
  )
  return candidates.map(({ recipient, channel, mail, providerKind, providerId, platform }) => {
    const { reason, gates } = decide(happened, recipient, app, defaults, now(), mail)
    const isPrivate = privacyOf(app, recipient.stored.preferences).value
    const words = () => {
      const reading = { templates: app.settings.templates, isPrivate, isGroup: happened.kind === 'group' }
      if (channel === 'push') return wordsOfMessage(message, recipient.uid, reading)
      const { subject, smsContent, messages } = contentOf({
        ...{ channel, uid: recipient.uid, address: undefined, messages: [message], announced: 1, unread: 1, group },
        ...{ users: new Map([...users, ...recipients]), settings: app.settings, isPrivate },
        smsMaxSegments: defaults.smsMaxSegments,
      })
      return { title: subject ?? '', body: smsContent ?? messages[0]?.message ?? '' }
    }
    return {
      ...{ uid: recipient.uid, channel, provider: providerKind, providerId },
      ...(platform !== null && { tokenType: platform }),
      notificationTriggered: reason === undefined,
      ...(reason !== undefined && { reason }),
      gates: gates.map(storedGate),
      ...words(),
    }
  })
}

const mention = /<@uid:([A-Za-z0-9_-]{1,100})>/g

interface ImaginedMessage {
  readonly message: Message
  readonly users: ReadonlyMap<string, UserRow>
  readonly group: GroupRow | undefined
}

/** The message as it would be shown, with those whom it names. */
async function messageOf(database: Database, appId: number, imagined: Imagined): Promise<ImaginedMessage> {
  const { sender, receiver, receiverType, data } = imagined
  const text = typeof data.text === 'string' ? data.text : ''
  const mentioned = Array.from(text.matchAll(mention), ([, uid = '']) => uid.toLowerCase())
  const users = await readUsers(database, appId, [sender, receiver, ...mentioned])
  const group = receiverType === 'group' ? (await readGroups(database, appId, [receiver])).get(receiver) : undefined
  const user = (uid: string): User => showUserOrDeleted(uid, users.get(uid))
  const named = mentioned.filter((uid) => users.has(uid)).map((uid) => [uid, user(uid)])
  const category = imagined.category ?? 'message'
  const sentAt = Math.floor(Date.now() / 1000)
  const message: Message = {
    ...{ id: '0', sender, receiver, receiverType, category, type: imagined.type ?? 'text', sentAt, updatedAt: sentAt },
    conversationId: conversationId(
      receiverType,
      ...(receiverType === 'group' ? ([receiver, ''] as const) : orderPair(sender, receiver)),
    ),
    data: {
      ...data,
      ...(named.length > 0 && { mentions: Object.fromEntries(named) }),
      entities: {
        sender: { entity: user(sender), entityType: 'user' },
        receiver:
          group === undefined
            ? { entity: user(receiver), entityType: 'user' }
            : { entity: showGroup(group), entityType: 'group' },
      },
    },
  }
  return { message, users, group }
}

const selectConversation = statement(`
  select c.key, q.sender as quoted, g.members_count as members
  from (select 1) one
  left join conversations c on c.app_id = $1 and c.kind = $2 and c.first = $3 and c.second = $4
  left join groups g on $2 = 2 and g.app_id = $1 and g.guid = $3
  left join messages q on q.app_id = $1 and q.id = $5 and ${notHeldIn('q')}`)

/** @returns undefined for what nobody is notified of */
async function happenedOf(
  database: Database,
  appId: number,
  imagined: Imagined,
  message: Message,
): Promise<Happened | undefined> {
  const { sender, receiver, receiverType, data, parentId, quotedMessageId } = imagined
  if (message.category === 'custom' && data.sendNotification !== true) return undefined
  const isGroup = receiverType === 'group'
  const [first, second] = isGroup ? ([receiver, ''] as const) : orderPair(sender, receiver)
  const values = [appId, isGroup ? 2 : 1, first, second, quotedMessageId === undefined ? null : Number(quotedMessageId)]
  const [found] = await database.query<{ key: number | null; quoted: string | null; members: number | null }>(
    selectConversation,
    values,
  )
  const mentions = message.data.mentions as object | undefined
  return {
    ...{ event: 1, trigger: 'after_message', conversation: found?.key ?? 0, first, second },
    kind: isGroup ? 'group' : 'oneOnOne',
    category: parentId !== undefined ? 'replies' : quotedMessageId !== undefined ? 'quotedReplies' : 'messages',
    members: found?.members ?? 2,
    // Nothing is sent of it.
    isRestricted: false,
    actors: [sender],
    ...{ message: null, reaction: null, sentAt: null, trace: null, author: sender },
    parentId: parentId === undefined ? null : Number(parentId),
    mentioned: Object.keys(mentions ?? {}),
    mentionsAll: isGroup && typeof data.text === 'string' && data.text.includes('<@all:'),
    quoted: found?.quoted ?? undefined,
  }
}
