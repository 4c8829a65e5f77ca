import { LRUCache } from 'lru-cache'
import { Counter } from 'prom-client'
import type { App } from '../../chat/identity.ts'
import { describeForEngine } from '../../chat/moderation/describe.ts'
import { type Judge, pass } from '../../chat/writing/judges.ts'
import type { Context } from '../../context.ts'

/** Whoever sends such messages may send many. */
const logEveryMs = 60_000

/**
 * The judge that asks the rules of moderation of an app, from memory. What they find goes with the message: what becomes of it
 * is decided where it is stored.
 */
export function createModerationJudge({
  database,
  rulebook,
  settings,
  metrics,
  log,
}: Pick<Context, 'database' | 'rulebook' | 'settings' | 'metrics' | 'log'>): Judge {
  const cuts = new Counter({
    name: 'parley_moderation_terms_cut_total',
    help: 'Patterns, or words, of rules that took too long on a text of a message, and were not met therefore',
    labelNames: ['app'],
    registers: [metrics.registry],
  })
  const logged = new LRUCache<number, true>({ max: 1_000, ttl: logEveryMs })
  const reportCut = ({ appId, name }: App, cut: number) => {
    cuts.inc({ app: name }, cut)
    if (logged.has(appId)) return
    logged.set(appId, true)
    log.warn(
      { app: appId, terms: cut },
      'patterns or words of moderation rules took too long on a message: they were not met',
    )
  }
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
      const outcome = rules.engine.judge(message, traffic)
      if (outcome.cut > 0) reportCut(draft.app, outcome.cut)
      return { is: 'moderated', outcome }
    },
  }
}
