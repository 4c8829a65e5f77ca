import type { AppSettingsStore } from '../../chat/app-settings.ts'
import { readMembership } from '../../chat/groups/access.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { isHeld } from '../../chat/messages/traits.ts'
import { type Decision, decide, decidedGone, type Happening, type Recipient } from '../../chat/notifications/decide.ts'
import type { NotificationSettingsStore } from '../../chat/notifications/settings.ts'
import type { PolicyMap, RolePolicies } from '../../chat/roles/policies.ts'
import { readParticipations } from '../../chat/sight/participation.ts'
import { visibleReactions } from '../../chat/sight/reactions.ts'
import { hidesByRole, readVisible, type Viewer } from '../../chat/sight/sight.ts'
import type { Database, Queryable } from '../../store/database.ts'
import type { DueNotification } from './due.ts'
import { happeningBy, isChange, type MessageFactsRow } from './happenings.ts'
import { readSentBefore } from './sent-before.ts'

export interface AskOptions {
  readonly database: Database
  readonly policies: RolePolicies
  readonly settings: AppSettingsStore
  readonly notificationSettings: NotificationSettingsStore
  readonly now: () => number
}

/** What messages say now, by id. */
export type StoredMessages = ReadonlyMap<number, StoredMessage>

/**
 * Decides notifications once more, by what has become of users, conversations and messages since they were planned. Whatever
 * replaces something that is just being sent is to be asked for later.
 */
export async function askAgain(
  options: AskOptions,
  appId: number,
  due: readonly DueNotification[],
  stored: StoredMessages,
): Promise<ReadonlyMap<number, Decision | 'later'>> {
  const { database } = options
  const happened = new Map(due.map((one) => [one.id, happeningOf(one, stored)]))
  const changes = due.filter(({ id }) => isChange(happened.get(id)))
  const [sentBefore, hidden, app, defaults] = await Promise.all([
    readSentBefore(
      database,
      appId,
      changes.flatMap(({ message }) => message ?? []),
    ),
    readHidden(options, appId, due, stored),
    options.notificationSettings.of(appId),
    options.settings.of(appId),
  ])
  const now = options.now()
  return new Map(
    due.map((one): [number, Decision | 'later'] => {
      const about = happened.get(one.id)
      const isInTime = now < one.expiresAt
      if (about === undefined) {
        const gone = one.event === null || one.isTakenBack ? 'event' : 'message'
        return [one.id, decidedGone(gone, { isInTime })]
      }
      const find = () => one.isOfRemoved || sentBefore.isShown(one.message ?? 0, one, one.id)
      const isShown = isChange(about) ? find() : undefined
      if (isChange(about) && isShown === undefined) return [one.id, 'later']
      const facts = { message: messageOf(one, stored), isShown, isHidden: hidden.has(one.id), isInTime }
      return [one.id, decide(about, recipientOf(one, about, facts), app, defaults, now)]
    }),
  )
}

/** The message as those see it who may see it at all: not while moderation holds it. */
function messageOf({ message }: DueNotification, stored: StoredMessages): StoredMessage | undefined {
  const found = message === null ? undefined : stored.get(message)
  return found !== undefined && isHeld(found) ? undefined : found
}

/** What it is about; undefined where nobody is notified of that by now, or it or its conversation is kept no more. */
function happeningOf(due: DueNotification, stored: StoredMessages): Happening | undefined {
  if (due.event === null || due.kind === null || due.isTakenBack) return undefined
  return happeningBy(due.event, factsOf(messageOf(due, stored), due), due.kind)
}

/** As `messageFacts` has it. */
function factsOf(message: StoredMessage | undefined, { quotedSender }: DueNotification): MessageFactsRow {
  const { sendNotification, text } = message?.data ?? {}
  return {
    sender: message?.sender ?? null,
    sentAt: message?.sentAt ?? null,
    category: message?.category ?? null,
    isNotifying: sendNotification === true || sendNotification === 'true',
    parentId: message?.parentId ?? null,
    quotedId: message?.quotedId ?? null,
    quotedSender,
    mentioned: message?.mentioned ?? null,
    mentionsAll: typeof text === 'string' && text.includes('<@all:'),
  }
}

/** Those whose message or reaction is hidden from the one who is notified; where nothing is set on roles and scopes, nothing is read. */
async function readHidden(
  { database, policies }: AskOptions,
  appId: number,
  due: readonly DueNotification[],
  stored: StoredMessages,
): Promise<ReadonlySet<number>> {
  const ofApp = await policies.ofApp(appId)
  const hidden = new Set<number>()
  for (const one of due) {
    const viewer = viewerOf(one, ofApp)
    const message = one.message === null ? undefined : stored.get(one.message)
    if (message === undefined) continue
    const seesAll =
      (await seesMessage(database, appId, viewer, one, message)) && (await seesReaction(database, appId, viewer, one))
    if (!seesAll) hidden.add(one.id)
  }
  return hidden
}

/** Who is notified, as somebody who looks. */
export function viewerOf({ uid, role }: Pick<DueNotification, 'uid' | 'role'>, policies: PolicyMap): Viewer {
  return { uid, policy: policies.get(role ?? '') }
}

async function seesMessage(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  { isRestricted }: DueNotification,
  message: StoredMessage,
): Promise<boolean> {
  if (!isRestricted && !hidesByRole(viewer)) return true
  return (await readVisible(on, appId, viewer, [message])).has(message.id)
}

/** As in lists of reactions: whoever may not see them, or none of members of that scope, is not notified of one either. */
async function seesReaction(on: Queryable, appId: number, viewer: Viewer, due: DueNotification): Promise<boolean> {
  if (due.trigger !== 'message_reaction_added') return true
  const { conversation, isRestricted, first, data } = due
  const participation = isRestricted
    ? (await readParticipations(on, appId, viewer.uid, [conversation])).get(conversation)
    : undefined
  const scopes = visibleReactions(viewer.policy, participation?.scope?.permissions)
  if (scopes === null) return true
  if (scopes.length === 0) return false
  const giver = await readMembership(on, appId, first, String(data?.uid))
  return giver !== undefined && scopes.includes(giver.scope)
}

interface Facts {
  readonly message: StoredMessage | undefined
  readonly isShown: boolean | undefined
  readonly isHidden: boolean
  readonly isInTime: boolean
}

function recipientOf(due: DueNotification, { category }: Happening, facts: Facts): Recipient {
  const { message, isShown, isHidden, isInTime } = facts
  const isOfMessage = category !== 'messageDeleted' && category !== 'reactions'
  const isGone = due.message !== null && (message === undefined || message.deletedAt !== null)
  return {
    uid: due.uid,
    followsThread: due.followsThread,
    isBlocked: due.isBlocked,
    stored: { preferences: due.preferences ?? {}, timezone: due.timezone },
    mutedUntil: due.isMuted ? due.mutedUntil : undefined,
    hasRead: due.hasRead && isOfMessage,
    atSending: {
      isActive: due.isActive,
      takesPart: due.takesPart,
      isShown,
      hasDevice: due.digest === null || due.sealed !== null,
      message: isGone ? 'deleted' : due.hasCleared || isHidden ? 'hidden' : 'there',
      isInTime,
    },
  }
}
