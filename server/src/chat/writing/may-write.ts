import type { MessageKind } from '@parley/contract'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { type Statement, statement } from '../../store/statement.ts'
import { type ConversationKind, storedKind } from '../kind.ts'
import type { StoredMessage } from '../messages/rows.ts'
import { partsOf } from '../naming.ts'
import type { Deed } from './deeds.ts'
import { writeByScopes } from './denied-scopes.ts'
import { refusalError } from './refusals.ts'
import { judgeByRoles } from './role-rules.ts'
import { type Asked, joins, type Refusal, refusalOf } from './rules.ts'

/** Somebody who wants to write something somewhere. */
export interface Writing {
  readonly appId: number
  readonly sender: string
  readonly kind: ConversationKind
  /** uid or guid, in lower case. */
  readonly receiver: string
  readonly deed: Deed
  /** As in `Asked`. */
  readonly isNew: boolean
  readonly conversation: 'begun' | 'any'
  /** The app itself writes: only who is named must be there. */
  readonly asApp?: boolean
}

/** As `requireMayWrite`, for what a user does to a message that is there: edit it, react to it, pin it. */
export function requireMayWriteTo(
  context: Pick<Context, 'policies' | 'messages'>,
  on: Queryable,
  appId: number,
  uid: string,
  message: Pick<StoredMessage, 'kind' | 'sender' | 'receiver'>,
  deed: Deed,
): Promise<void> {
  const { kind } = message
  const receiver = kind === 'user' && message.sender !== uid ? message.sender : message.receiver
  return requireMayWrite(context, on, { appId, sender: uid, kind, receiver, deed, isNew: false, conversation: 'any' })
}

/**
 * Asks the rules of writing for one deed of a user: they are those of sending, see rules.ts. Where the answer must hold
 * until something is written, ask in its transaction, under the conversation's lock.
 * @throws as sending does: 403 `ERR_PERMISSION_DENIED`, `ERR_BLOCKED_*`, `ERR_GROUP_NOT_JOINED`, ...
 */
export async function requireMayWrite(
  { policies, messages }: Pick<Context, 'policies' | 'messages'>,
  on: Queryable,
  writing: Writing,
): Promise<void> {
  const { appId, sender, kind, receiver, deed } = writing
  const roleRules = judgeByRoles(await policies.ofApp(appId), kind, deed)
  const [first, second] = partsOf(writing)
  const ask = askingStatement({
    ...{ groups: kind === 'group', roles: roleRules !== null, replies: false },
    ...{ isNew: writing.isNew, conversation: writing.conversation },
    asApp: writing.asApp ?? false,
  })
  const { refusal } = await writeByScopes(messages.permissions, appId, writing, deed, async (denied) => {
    const parts = [appId, sender, storedKind(kind), receiver, first, second]
    const values = [...parts, denied.deniedScopes, denied.permissionsVersion, roleRules]
    const [row] = await on.query<{ refusal: Refusal | null }>(ask, values)
    return row ?? { refusal: null }
  })
  if (refusal !== null) throw refusalError(refusal, { sender, kind, receiver, says: saysOf(deed) })
}

function saysOf(deed: Deed): MessageKind | undefined {
  return deed.key === 'addReaction' ? undefined : deed.says
}

const statements = new Map<string, Statement>()

function askingStatement(asked: Asked & { readonly asApp: boolean }): Statement {
  const key = `${asked.groups} ${asked.roles} ${asked.isNew} ${asked.conversation} ${asked.asApp}`
  const known = statements.get(key)
  if (known !== undefined) return known
  const made = statement(`
    select ${refusalOf(asked)} as refusal
    from (
      values (
        $1::int, $2::text, $3::smallint, $4::text, $5::text, $6::text, $7::int, $8::bigint, $9::text, ${asked.asApp}
      )
    ) as r(app_id, sender, kind, receiver, first, second, denied_scopes, permissions_version, role_rules, as_app)
    ${joins(asked)}`)
  statements.set(key, made)
  return made
}
