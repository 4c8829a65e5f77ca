import { permissionAllows } from '@parley/contract'
import { sql } from 'kysely'
import type { Queryable } from '../../store/database.ts'
import { type Fragment, statement } from '../../store/statement.ts'
import type { GroupRow } from '../groups/rows.ts'
import type { RolePolicies, RolePolicy } from '../roles/policies.ts'
import { readUser } from '../users/rows.ts'
import {
  asksSender,
  type Condition,
  conditionSql,
  conditionsSql,
  holds,
  type MessageFacts,
  type SenderFacts,
} from './condition.ts'
import { isOpen, type Participation, readParticipations, readScopeRules } from './participation.ts'
import { conditionsOf, roleRules, scopeRules } from './rules.ts'

/** Who looks, and what is set on their role. */
export interface Viewer {
  readonly uid: string
  readonly policy: RolePolicy | undefined
}

/** A user as a viewer. Where no role of the app has anything set on it, nothing is read. */
export async function identifyViewer(
  on: Queryable,
  policies: RolePolicies,
  appId: number,
  uid: string,
): Promise<Viewer> {
  const ofApp = await policies.ofApp(appId)
  const user = ofApp.size === 0 ? undefined : await readUser(on, appId, uid)
  return { uid, policy: user && ofApp.get(user.role) }
}

/** A message, and where it stands. */
export interface PlacedFacts extends MessageFacts {
  readonly conversation: number
}

/**
 * What hides messages from a viewer in lists and counts: conditions on `m`, beside `takesPartSql` and `notClearedSql`, which
 * the lists ask of the viewer's state `s`, and `isThereSql`. None where nothing is set.
 * @param guids of the groups that the list is of; absent: of all of theirs
 * @param ofThreads also `listThreadedMessages` of their scopes
 */
export async function readConditions(
  on: Queryable,
  appId: number,
  { uid, policy }: Viewer,
  guids?: readonly string[],
  { ofThreads = false } = {},
): Promise<Fragment[]> {
  const ofRole = conditionsOf(roleRules, policy).map((condition) => conditionSql(condition, uid))
  const scopes = await readScopeRules(on, appId, uid, guids)
  const ofScopes = [...scopes].flatMap(([guid, set]) => {
    const conditions = conditionsOf(scopeRules, set)
    if (ofThreads && !permissionAllows(set.permissions, 'listThreadedMessages', 'allow')) {
      conditions.push({ is: 'never' })
    }
    if (conditions.length === 0) return []
    return [sql`(m.kind = 1 or m.receiver <> ${guid} or (${conditionsSql(conditions, uid)}))`]
  })
  return [...ofRole, ...ofScopes]
}

/** Whether a viewer's role hides any message from them. */
export function hidesByRole({ policy }: Viewer): boolean {
  return conditionsOf(roleRules, policy).length > 0
}

/** Of some groups, the guids of those in which permissions were ever set: of the others there is nothing to ask. */
export function restrictedOf(groups: Iterable<Pick<GroupRow, 'guid' | 'permissionsVersion'>>): string[] {
  return [...groups].flatMap(({ guid, permissionsVersion }) => (permissionsVersion === 0 ? [] : guid))
}

/** Whether a viewer sees a message, whichever way they come to it. @param sender as far as `asksSenders` of the viewer */
export function sees(
  viewer: Viewer,
  participation: Participation | undefined,
  message: MessageFacts,
  sender: SenderFacts,
): boolean {
  if (!isOpen(viewer.uid, participation, message)) return false
  return conditionsFor(viewer, participation).every((condition) => holds(condition, message, viewer.uid, sender))
}

/** As `sees`, of a message that is asked for by its id: what somebody wrote themselves they may always open. */
export function opens(
  viewer: Viewer,
  participation: Participation | undefined,
  message: MessageFacts,
  sender: SenderFacts,
): boolean {
  return message.sender === viewer.uid
    ? isOpen(viewer.uid, participation, message)
    : sees(viewer, participation, message, sender)
}

function conditionsFor({ policy }: Pick<Viewer, 'policy'>, participation: Participation | undefined): Condition[] {
  return [...conditionsOf(roleRules, policy), ...conditionsOf(scopeRules, participation?.scope)]
}

const nobody: SenderFacts = { role: undefined, isFriend: false }

/** Of some messages, those that a viewer sees. */
export function readVisible(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  messages: readonly PlacedFacts[],
): Promise<ReadonlySet<number>> {
  return readThose(on, appId, viewer, messages, sees)
}

/** Whether a viewer may open a message by its id. */
export async function mayOpen(on: Queryable, appId: number, viewer: Viewer, message: PlacedFacts): Promise<boolean> {
  return (await readThose(on, appId, viewer, [message], opens)).size > 0
}

async function readThose(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  messages: readonly PlacedFacts[],
  judge: typeof sees,
): Promise<ReadonlySet<number>> {
  if (messages.length === 0) return new Set()
  const asksSenders = conditionsOf(roleRules, viewer.policy).some(asksSender)
  const [participations, senders] = await Promise.all([
    readParticipations(
      on,
      appId,
      viewer.uid,
      messages.map(({ conversation }) => conversation),
    ),
    asksSenders ? readSenders(on, appId, viewer.uid, messages) : new Map<string, SenderFacts>(),
  ])
  const visible = messages.filter((message) =>
    judge(viewer, participations.get(message.conversation), message, senders.get(message.sender) ?? nobody),
  )
  return new Set(visible.map(({ id }) => id))
}

const selectSenders = statement(`
  select u.uid, u.role,
    exists (select from friends f where f.app_id = u.app_id and f.uid = $2 and f.friend = u.uid) as "isFriend"
  from users u
  where u.app_id = $1
  and u.uid = any($3::text[])`)

async function readSenders(
  on: Queryable,
  appId: number,
  viewer: string,
  messages: readonly MessageFacts[],
): Promise<ReadonlyMap<string, SenderFacts>> {
  const uids = [...new Set(messages.map(({ sender }) => sender))]
  const rows = await on.query<SenderFacts & { uid: string }>(selectSenders, [appId, viewer, uids])
  return new Map(rows.map((row) => [row.uid, row]))
}
