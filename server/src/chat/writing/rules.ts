import { latestByParts } from '../conversations/latest.ts'
import { notHeldIn } from '../sight/participation.ts'
import { scopeBits } from './denied-scopes.ts'

/** Why something may not be written. */
export type Refusal =
  | 'ERR_SENDER_NOT_FOUND'
  | 'ERR_UID_NOT_FOUND'
  | 'ERR_GUID_NOT_FOUND'
  | 'ERR_BLOCKED_RECEIVER'
  | 'ERR_BLOCKED_SENDER'
  | 'ERR_GROUP_NOT_JOINED'
  | 'ERR_BANNED_GROUPMEMBER'
  /** By the writer's scope in the group. */
  | 'SCOPE_DENIED'
  /** By the writer's role. */
  | 'ROLE_DENIED'
  /** The message replied to was removed for good meanwhile, or moderation has taken it. */
  | 'ERR_MESSAGE_ID_NOT_FOUND'
  /** The two have no conversation yet. A send makes it first; what is not stored is refused. */
  | 'NO_CONVERSATION'
  /** The group's permissions have changed since the verdict about its scopes. */
  | 'STALE_PERMISSIONS'

/** What is to be asked; all else is left out of the statement. */
export interface Asked {
  /** Something is written to a group. */
  readonly groups: boolean
  /** A role may forbid it. */
  readonly roles: boolean
  /** A message replies to another. */
  readonly replies: boolean
  /** It is something new, so whom it is for must be there and active; an edit may outlive them. */
  readonly isNew: boolean
  /** What the conversation must be: there (a row to write to), begun (with a message, or a group's), or it does not matter. */
  readonly conversation: 'there' | 'begun' | 'any'
}

const when = (isAsked: boolean, sql: string) => (isAsked ? sql : '')

/**
 * The rules of writing, once, as one SQL expression: why the request `r` is refused, or null. Sends ask it for a whole
 * batch (areas/messages/write), all else for one request (may-write.ts).
 *
 * `r` has app_id, sender, kind, receiver, first, second, as_app, parent_id (with `replies`), role_rules (with `roles`),
 * denied_scopes and permissions_version (with `groups`); the other aliases are those of `joins`.
 */
export function refusalOf(asked: Asked): string {
  const { groups, roles, replies, isNew, conversation } = asked
  return `case
        when s.uid is null or s.deactivated_at is not null then 'ERR_SENDER_NOT_FOUND'
        ${when(isNew, `when r.kind = 1 and (t.uid is null or t.deactivated_at is not null) then 'ERR_UID_NOT_FOUND'`)}
        ${when(groups, `when r.kind = 2 and g.guid is null then 'ERR_GUID_NOT_FOUND'`)}
        ${when(conversation === 'there', `when c.key is null then 'NO_CONVERSATION'`)}
        ${when(replies, isGone)}
        when r.as_app then null
        ${when(roles, isDeniedByRole(groups))}
        when r.kind = 1 then case
          when exists (
            select from blocks b
            where b.app_id = r.app_id and b.blocker = r.sender and b.blocked = r.receiver
          ) then 'ERR_BLOCKED_RECEIVER'
          when exists (
            select from blocks b
            where b.app_id = r.app_id and b.blocker = r.receiver and b.blocked = r.sender
          ) then 'ERR_BLOCKED_SENDER'
          ${when(conversation === 'begun', `when c.listed_id is null and r.sender <> r.receiver then 'NO_CONVERSATION'`)}
        end
        ${when(groups, isDeniedInGroup)}
      end`
}

/**
 * The joins that `refusalOf` needs: users s (the writer) and t (the receiver), group g, membership m, conversation c with
 * its last message and where its latest version lies.
 *
 * `case` in a join condition keeps the planner from looking up what cannot be there.
 */
export function joins({ groups }: Pick<Asked, 'groups'>): string {
  return `
    left join users s on s.app_id = r.app_id and s.uid = r.sender
    left join users t on t.app_id = r.app_id and t.uid = case r.kind when 1 then r.receiver end
    ${when(groups, groupsAndMembers)}
    left join lateral ${latestByParts('v.key, v.last_sent_at, v.last_id, v.last_sender, v.listed_id, v.ctid as version', 'r')} c on true`
}

const groupsAndMembers = `
    left join groups g on g.app_id = r.app_id and g.guid = case r.kind when 2 then r.receiver end
    left join group_members m
      on m.app_id = r.app_id and m.guid = case r.kind when 2 then r.receiver end and m.uid = r.sender`

const isGone = `
        when r.parent_id is not null and not exists (
          select from messages p
          where p.app_id = r.app_id and p.id = r.parent_id and not p.purged and ${notHeldIn('p')}
        ) then 'ERR_MESSAGE_ID_NOT_FOUND'`

const isDeniedByRole = (groups: boolean) => `
        when r.role_rules is not null and ${groups ? '(r.kind = 1 or m.uid is not null)' : 'true'} and (
          (r.role_rules::jsonb -> 'denied') ? s.role
          or r.kind = 1 and r.sender <> r.receiver and (
            (r.role_rules::jsonb -> 'friendsOnly') ? s.role and not exists (
              select from friends f
              where f.app_id = r.app_id and f.uid = r.sender and f.friend = r.receiver
            )
            or not coalesce((r.role_rules::jsonb -> 'receivers' -> s.role) ? t.role, true)
          )
        ) then 'ROLE_DENIED'`

const isDeniedInGroup = `
        when m.uid is null then case
          when g.type = 'private' then 'ERR_GUID_NOT_FOUND'
          when exists (
            select from group_bans b
            where b.app_id = r.app_id and b.guid = r.receiver and b.uid = r.sender
          ) then 'ERR_BANNED_GROUPMEMBER'
          else 'ERR_GROUP_NOT_JOINED'
        end
        when g.permissions_version <> r.permissions_version then 'STALE_PERMISSIONS'
        when r.denied_scopes & (
          case m.scope
            when 'admin' then ${scopeBits.admin}
            when 'moderator' then ${scopeBits.moderator}
            else ${scopeBits.participant}
          end
        ) <> 0 then 'SCOPE_DENIED'`
