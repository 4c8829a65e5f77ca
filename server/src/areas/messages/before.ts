import { readGroups, showGroup } from '../../chat/groups/rows.ts'
import { between } from '../../chat/messages/entities.ts'
import { renderDraft } from '../../chat/messages/render.ts'
import { readUsers, showDeletedUser, showUser } from '../../chat/users/rows.ts'
import { type Draft, type Judge, pass } from '../../chat/writing/judges.ts'
import type { BeforeMessage } from '../../delivery/webhooks/before-message.ts'
import type { Database } from '../../store/database.ts'
import { type Content, injectedOf, withInjected } from './content.ts'
import { blockedByWebhook } from './errors.ts'

/** The judge that asks the before_message webhooks of an app, where there are any. */
export function createHookJudge(database: Database, hooks: BeforeMessage): Judge {
  return {
    concerns: async (appId) => (await hooks.of(appId)).length > 0,
    async judge(draft) {
      const targets = await hooks.of(draft.app.appId)
      const message = await showDraft(database, draft)
      // Sender or receiver is unknown: it will be refused.
      if (message === undefined) return pass
      const { stoppedBy, answers } = await hooks.ask(targets, message, draft.span)
      if (stoppedBy !== undefined) {
        const error = blockedByWebhook(stoppedBy)
        return { is: 'refused', error }
      }
      const asked = targets.map(({ id }) => id)
      return { is: 'changed', data: inject(draft.content, asked, answers).data }
    },
  }
}

/** As after_message will tell it, without id and times; an edit with the id of its message. */
async function showDraft(database: Database, draft: Draft): Promise<object | undefined> {
  const { app, sender, kind, receiver, content, edits } = draft
  const { appId } = app
  const [users, groups] = await Promise.all([
    readUsers(database, appId, kind === 'user' ? [sender, receiver] : [sender]),
    kind === 'group' ? readGroups(database, appId, [receiver]) : new Map<string, never>(),
  ])
  const from = users.get(sender)
  const to = kind === 'user' ? users.get(receiver) : groups.get(receiver)
  if (to === undefined || (from === undefined && edits === null)) return undefined
  // The app edits what somebody has left behind.
  const by = from === undefined ? showDeletedUser(sender) : showUser(from)
  const { category, type, data } = content
  const { muid, parentId, quotedId, tags } = draft
  const view = { sender, kind, receiver, category, type, data, muid, parentId, quotedId, tags }
  const message = renderDraft(view, between(draft, by, 'uid' in to ? showUser(to) : showGroup(to)))
  return edits === null ? message : { id: String(edits), action: 'edited', ...message }
}

/** What a webhook said of an earlier text does not hold for this one, also where it has nothing to say now. */
function inject(content: Content, asked: readonly string[], answers: Record<string, object>): Content {
  const { webhooks: earlier, ...others } = injectedOf(content.data)
  const kept = Object.entries((earlier as Record<string, unknown> | undefined) ?? {}).filter(
    ([id]) => !asked.includes(id),
  )
  const webhooks = { ...Object.fromEntries(kept), ...answers }
  return withInjected(content, { ...others, ...(Object.keys(webhooks).length > 0 && { webhooks }) })
}
