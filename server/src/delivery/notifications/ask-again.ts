import type { UserPreferencesIn } from '@parley/contract'
import type { AppSettingsStore } from '../../chat/app-settings.ts'
import { storedKind } from '../../chat/kind.ts'
import { readMessages } from '../../chat/messages/rows.ts'
import { type Decision, decide, decidedGone, type Recipient } from '../../chat/notifications/decide.ts'
import type { NotificationSettingsStore } from '../../chat/notifications/settings.ts'
import type { RolePolicies } from '../../chat/roles/policies.ts'
import { notHeldIn } from '../../chat/sight/participation.ts'
import { hidesByRole, readVisible, type Viewer } from '../../chat/sight/sight.ts'
import type { Database, Queryable } from '../../store/database.ts'
import { createRecordset } from '../../store/recordset.ts'
import { statement } from '../../store/statement.ts'
import type { DueNotification } from './due.ts'
import { followsThreadSql, isBlockedSql, mutesJoin, preferencesJoin, stateJoin } from './facts.ts'
import { type Happened, isChange, readHappeningsOf } from './happenings.ts'
import { readSentBefore } from './sent-before.ts'

export interface AskOptions {
  readonly database: Database
  readonly policies: RolePolicies
  readonly settings: AppSettingsStore
  readonly notificationSettings: NotificationSettingsStore
  readonly now: () => number
}

interface Row {
  readonly id: number
  readonly timezone: string | null
  readonly preferences: UserPreferencesIn | null
  readonly isMuted: boolean
  readonly mutedUntil: number | null
  readonly followsThread: boolean
  readonly isBlocked: boolean
  readonly hasRead: boolean
  readonly hasCleared: boolean
  readonly isActive: boolean
  readonly takesPart: boolean
  readonly isGone: boolean
  readonly isRestricted: boolean
}

interface Asked {
  readonly due: DueNotification
  readonly about: Happened
}

const asked = createRecordset<Asked>(
  [
    ['id', 'bigint', ({ due }) => due.id],
    ['uid', 'text', ({ due }) => due.uid],
    ['conversation', 'bigint', ({ due }) => due.conversation],
    ['kind', 'smallint', ({ due }) => storedKind(due.kind)],
    ['first', 'text', ({ due }) => due.first],
    ['second', 'text', ({ due }) => due.second],
    ['actors', 'text[]', ({ about }) => about.actors],
    ['message', 'bigint', ({ due }) => due.message],
    ['parent', 'bigint', ({ about }) => about.parentId],
  ],
  { alias: 'h', first: 2 },
)

/** As when it was planned (`candidates.ts`), but of single users, who may have left by now. */
const select = statement(`
  select h.id, p.preferences, p.timezone, mu.uid is not null as "isMuted", mu.until as "mutedUntil",
    ${followsThreadSql('h.uid', 'h.parent')} as "followsThread",
    ${isBlockedSql('h.uid', 'h.kind', 'any(h.actors::text[])')} as "isBlocked",
    coalesce((s.read_sent_at, s.read_id) >= (m.sent_at, m.id), false) as "hasRead",
    coalesce((s.cleared_sent_at, s.cleared_id) >= (m.sent_at, m.id), false) as "hasCleared",
    u.uid is not null and u.deactivated_at is null as "isActive",
    h.kind = 1 or g.uid is not null as "takesPart",
    h.message is not null and (m.id is null or m.deleted_at is not null) as "isGone",
    coalesce(gr.permissions_version <> 0, false) as "isRestricted"
  from ${asked.sql}
  left join users u on u.app_id = $1 and u.uid = h.uid
  left join groups gr on h.kind = 2 and gr.app_id = $1 and gr.guid = h.first
  left join group_members g on h.kind = 2 and g.app_id = $1 and g.guid = h.first and g.uid = h.uid
  left join messages m on m.app_id = $1 and m.id = h.message and not m.purged and ${notHeldIn('m')}
  ${preferencesJoin('h.uid')}
  ${mutesJoin('h.uid', 'h')}
  ${stateJoin('h.uid', 'h')}`)

/**
 * Decides notifications once more, by what has become of users, conversations and messages since they were planned. Whatever
 * replaces something that is just being sent is to be asked for later.
 */
export async function askAgain(
  options: AskOptions,
  appId: number,
  due: readonly DueNotification[],
): Promise<ReadonlyMap<number, Decision | 'later'>> {
  const { database } = options
  const happened = await readHappeningsOf(database, appId, [...new Set(due.map(({ eventId }) => eventId))])
  const changes = due.filter(({ eventId }) => isChange(happened.get(eventId)))
  const [rows, sentBefore, app, defaults] = await Promise.all([
    readRows(database, appId, due, happened),
    readSentBefore(
      database,
      appId,
      changes.flatMap(({ message }) => message ?? []),
    ),
    options.notificationSettings.of(appId),
    options.settings.of(appId),
  ])
  const hidden = await readHidden(options, appId, due, rows)
  const now = options.now()
  return new Map(
    due.map((one): [number, Decision | 'later'] => {
      const [about, row] = [happened.get(one.eventId), rows.get(one.id)]
      if (about === undefined || row === undefined)
        return [one.id, decidedGone(one.event === null ? 'event' : 'message')]
      const isShown = isChange(about) ? sentBefore.isShown(one.message ?? 0, one, one.id) : undefined
      if (isChange(about) && isShown === undefined) return [one.id, 'later']
      const facts = { row, isShown, isHidden: hidden.has(one.id), now }
      return [one.id, decide(about, recipientOf(one, about, facts), app, defaults, now)]
    }),
  )
}

async function readRows(
  on: Queryable,
  appId: number,
  due: readonly DueNotification[],
  happened: ReadonlyMap<number, Happened>,
): Promise<ReadonlyMap<number, Row>> {
  const wanted = due.flatMap((one): Asked | [] => {
    const about = happened.get(one.eventId)
    return about === undefined ? [] : { due: one, about }
  })
  const rows = await on.query<Row>(select, [appId, ...asked.values(wanted)])
  return new Map(rows.map((row) => [row.id, row]))
}

/** Those whose message is hidden from who is notified; where nothing is set on roles and scopes, nothing is read. */
async function readHidden(
  { database, policies }: AskOptions,
  appId: number,
  due: readonly DueNotification[],
  rows: ReadonlyMap<number, Row>,
): Promise<ReadonlySet<number>> {
  const ofApp = await policies.ofApp(appId)
  const viewerOf = ({ uid, role }: DueNotification): Viewer => ({ uid, policy: ofApp.get(role ?? '') })
  const doubtful = due.filter((one) => rows.get(one.id)?.isRestricted === true || hidesByRole(viewerOf(one)))
  const ids = doubtful.flatMap(({ message }) => message ?? [])
  const messages = ids.length === 0 ? new Map() : await readMessages(database, appId, [...new Set(ids)])
  const hidden = new Set<number>()
  for (const one of doubtful) {
    const message = one.message === null ? undefined : messages.get(one.message)
    if (message === undefined) continue
    if (!(await readVisible(database, appId, viewerOf(one), [message])).has(message.id)) hidden.add(one.id)
  }
  return hidden
}

interface Facts {
  readonly row: Row
  readonly isShown: boolean | undefined
  readonly isHidden: boolean
  readonly now: number
}

function recipientOf(due: DueNotification, { category }: Happened, { row, isShown, isHidden, now }: Facts): Recipient {
  const isOfMessage = category !== 'messageDeleted' && category !== 'reactions'
  return {
    ...{ uid: due.uid, followsThread: row.followsThread, isBlocked: row.isBlocked },
    stored: { preferences: row.preferences ?? {}, timezone: row.timezone },
    mutedUntil: row.isMuted ? row.mutedUntil : undefined,
    hasRead: row.hasRead && isOfMessage,
    atSending: {
      ...{ isActive: row.isActive, takesPart: row.takesPart, isShown },
      hasDevice: due.digest === null || due.sealed !== null,
      message: row.isGone ? 'deleted' : row.hasCleared || isHidden ? 'hidden' : 'there',
      isInTime: now < due.expiresAt,
    },
  }
}
