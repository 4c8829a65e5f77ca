import { ApiError } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import type { ConversationKind } from '../../../chat/kind.ts'
import { kindSql } from '../../../chat/kind.ts'
import type { Context } from '../../../context.ts'
import { statement } from '../../../store/statement.ts'
import { banUser } from '../../banned-users/index.ts'
import { blockUsers } from '../../blocked-users/index.ts'
import { kickMember } from '../../group-members/index.ts'

/** What rules ask to be done to the sender of a message. */
interface Order {
  /** Of the decision. */
  readonly id: number
  readonly ruleId: string | null
  readonly actions: readonly string[]
  readonly sender: string
  readonly kind: ConversationKind
  readonly receiver: string
}

const selectOrders = statement(`
  select d.id, d.rule_id as "ruleId", d.actions, m.sender, ${kindSql('m.kind')} as kind, m.receiver
  from moderation_decisions d
  join messages m on m.app_id = d.app_id and m.id = d.message and not m.purged
  where d.app_id = $1
  and d.message = $2
  and not d.acted
  order by d.id`)

const markActed = statement(`
  update moderation_decisions
  set acted = true
  where app_id = $1
  and message = $2
  and id = any($3::bigint[])
  and not acted
  returning id`)

/** What an action comes down to where the message was sent; undefined where it has no meaning there. */
type Deed = 'ban' | 'kick' | 'block' | undefined

const deeds: Readonly<Record<string, { readonly kind: ConversationKind; readonly deed: Deed }>> = {
  banUser: { kind: 'group', deed: 'ban' },
  kickUser: { kind: 'group', deed: 'kick' },
  blockUser: { kind: 'user', deed: 'block' },
}

/** That it is so already: somebody else was faster, or it was done before and not noted down. */
const alreadySo: ReadonlySet<string> = new Set(['ERR_ALREADY_BANNED', 'ERR_NOT_A_MEMBER'])

/**
 * Does to the sender of a message what the decisions about it ask for: bans and kicks in groups, blocks between two users.
 * Owners and admins are left alone. Done again, it changes nothing. What was done, and what was not and why, is in the audit
 * log.
 */
export async function enactActions(context: Context, app: App, messageId: number): Promise<void> {
  const { appId } = app
  const orders = await context.database.query<Order>(selectOrders, [appId, messageId])
  for (const deed of new Set(orders.flatMap(deedsOf))) {
    const asking = orders.filter((order) => deedsOf(order).includes(deed))
    await enact(context, app, messageId, deed, asking)
  }
  const ids = orders.map(({ id }) => id)
  if (ids.length > 0) await context.database.query(markActed, [appId, messageId, ids])
}

/** Who is banned is out of the group; nobody has to kick them. */
function deedsOf({ actions, kind }: Order): Array<NonNullable<Deed>> {
  const wanted = actions.flatMap((action) => {
    const known = deeds[action]
    return known?.kind === kind && known.deed !== undefined ? [known.deed] : []
  })
  return wanted.includes('ban') ? wanted.filter((deed) => deed !== 'kick') : wanted
}

async function enact(
  context: Context,
  app: App,
  messageId: number,
  deed: NonNullable<Deed>,
  asking: readonly Order[],
): Promise<void> {
  const [order] = asking
  if (order === undefined) return
  const refused = await refusalOf(perform(context, app, deed, order))
  if (refused !== undefined && alreadySo.has(refused.code)) return
  const details = {
    action: deed,
    message: String(messageId),
    rules: [...new Set(asking.flatMap(({ ruleId }) => ruleId ?? []))],
    ...(order.kind === 'group' && { guid: order.receiver }),
    // Not what it says: that names people, whom the log must be able to forget.
    ...(refused !== undefined && { refused: refused.code }),
  }
  const record = { action: 'moderation_acted', type: 'user', target: order.sender, details } as const
  await context.audit.record(context.database, app.appId, record)
}

async function perform(context: Context, { appId }: App, deed: NonNullable<Deed>, order: Order): Promise<void> {
  const { sender, receiver } = order
  if (deed === 'ban') return banUser(context, appId, receiver, undefined, sender, true)
  if (deed === 'kick') return kickMember(context, appId, receiver, undefined, sender, true)
  const outcome = (await blockUsers(context, appId, receiver, [sender]))[sender]
  if (outcome?.error !== undefined) throw new ApiError(outcome.error.code as ApiError['code'], outcome.error.devMessage)
}

/** Why it is not done: a user or a group that is gone by now, an owner, an admin. */
async function refusalOf(doing: Promise<void>): Promise<ApiError | undefined> {
  try {
    await doing
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}
