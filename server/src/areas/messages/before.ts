import { readGroups, showGroup } from '../../chat/groups/rows.ts'
import type { App } from '../../chat/identity.ts'
import { between } from '../../chat/messages/entities.ts'
import { type DraftView, renderDraft } from '../../chat/messages/render.ts'
import { readUsers, showUser } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Content } from './content.ts'

/** A message that is about to be stored. */
export interface Draft {
  readonly sender: string
  readonly kind: 1 | 2
  readonly receiver: string
  readonly muid: string | undefined
  readonly parentId: number | undefined
  readonly quotedId: number | undefined
  readonly tags: readonly string[] | undefined
}

/**
 * Asks the before_message webhooks of the app, where there are any.
 * @returns the content, with what they answered in `data.metadata["@injected"].webhooks`, by webhook
 * @throws 403 `ERR_BLOCKED_BY_WEBHOOK`
 */
export async function askBeforeSending(
  context: Context,
  app: App,
  content: Content,
  describe: () => Draft,
): Promise<Content> {
  const { hooks } = context.webhooks
  const targets = await hooks.of(app.appId)
  if (targets.length === 0) return content
  const message = await showDraft(context, app, content, describe())
  // Sender or receiver is unknown: it will be refused.
  if (message === undefined) return content
  return inject(content, await hooks.ask(targets, message))
}

/** As after_message will tell it, without id and times. */
async function showDraft(
  { database }: Context,
  { appId }: App,
  content: Content,
  draft: Draft,
): Promise<object | undefined> {
  const { sender, kind, receiver } = draft
  const [users, groups] = await Promise.all([
    readUsers(database, appId, kind === 1 ? [sender, receiver] : [sender]),
    kind === 2 ? readGroups(database, appId, [receiver]) : new Map<string, never>(),
  ])
  const from = users.get(sender)
  const to = kind === 1 ? users.get(receiver) : groups.get(receiver)
  if (from === undefined || to === undefined) return undefined
  const { category, type, data } = content
  const ends = { sender, kind, receiver }
  const view: DraftView = {
    ...ends,
    ...{ category, type, data },
    muid: draft.muid ?? null,
    parentId: draft.parentId ?? null,
    quotedId: draft.quotedId ?? null,
    tags: draft.tags ?? null,
  }
  return renderDraft(view, between(ends, showUser(from), 'uid' in to ? showUser(to) : showGroup(to)))
}

/** What the sender himself wrote there is not believed. */
function inject(content: Content, webhooks: Record<string, object>): Content {
  const metadata = objectOf(content.data.metadata)
  const injected = objectOf(metadata['@injected'])
  if (Object.keys(webhooks).length === 0 && injected.webhooks === undefined) return content
  const { webhooks: _, ...others } = injected
  const all = { ...others, ...(Object.keys(webhooks).length > 0 && { webhooks }) }
  const data = { ...content.data, metadata: { ...metadata, '@injected': all } }
  return { ...content, data, json: JSON.stringify(data) }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
