import { describeForEngine } from '../../chat/moderation/describe.ts'
import { type Judge, pass } from '../../chat/writing/judges.ts'
import type { Context } from '../../context.ts'

/**
 * The judge that asks the rules of moderation of an app, from memory. What they find goes with the message: what becomes of it
 * is decided where it is stored.
 */
export function createModerationJudge({
  database,
  rulebook,
  settings,
}: Pick<Context, 'database' | 'rulebook' | 'settings'>): Judge {
  return {
    isLocal: true,
    concerns: async (appId) => (await rulebook.of(appId)) !== undefined,
    async judge(draft) {
      const { appId } = draft.app
      const rules = await rulebook.of(appId)
      if (rules === undefined) return pass
      if (draft.byApp && !(await settings.of(appId)).moderateApp) return pass
      const message = await describeForEngine(database, draft, rules.asks)
      // Rate and repetition count what is sent, and an edit is no other message.
      const traffic = draft.edits === null ? rules.traffic : undefined
      return { is: 'moderated', outcome: rules.engine.judge(message, traffic) }
    },
  }
}
