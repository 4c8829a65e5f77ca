import type { App } from '../../../chat/identity.ts'
import type { Context } from '../../../context.ts'
import { isConnectionFailure } from '../../../store/connection.ts'
import { statement } from '../../../store/statement.ts'
import { finishReviews } from '../queue/decide.ts'
import { enactActions } from './enact.ts'

/** Does what decisions of moderation ask for beside the message, after whoever is answered has been. */
export interface ModerationActions {
  /** Right after a decision that asks for something was written. */
  soon(app: App, messageId: number): void
  /** Looks for what a process that was killed left behind, at once and then now and then. */
  start(context: Context): void
  /** Resolves when what has begun is done. */
  stop(): Promise<void>
  /** Does now what was left behind for so long. @param seconds */
  sweep(seconds?: number): Promise<void>
}

const sweepEveryMs = 20_000
/** What is older was left behind; what is younger somebody is at. */
const leftAfterSeconds = 20

/** By `moderation_decisions_to_enact`. */
const selectLeft = statement(`
  select distinct d.message, a.app_id as "appId", a.name, a.region
  from moderation_decisions d
  join apps a on a.app_id = d.app_id
  where not d.acted
  and d.at <= $1
  and a.paused_at is null
  limit 1000`)

export function createModerationActions(): ModerationActions {
  let context: Context | undefined
  let timer: NodeJS.Timeout | undefined
  const running = new Set<Promise<void>>()

  const run = (what: string, work: (context: Context) => Promise<void>) => {
    if (context === undefined) return
    const { log } = context
    const doing = work(context)
      .catch((err: unknown) => {
        if (!isConnectionFailure(err)) log.warn({ err }, `${what}; it will be tried again`)
      })
      .finally(() => running.delete(doing))
    running.add(doing)
  }
  const sweep = async (seconds = leftAfterSeconds) => {
    if (context !== undefined) await finishLeft(context, Math.floor(Date.now() / 1000) - seconds)
  }
  return {
    soon: (app, id) => run('an action of moderation failed', (known) => enactActions(known, app, id)),
    start(known) {
      context = known
      const look = () => run('actions of moderation could not be looked for', () => sweep())
      look()
      timer = setInterval(look, sweepEveryMs).unref()
    },
    async stop() {
      clearInterval(timer)
      while (running.size > 0) await Promise.all(running)
      context = undefined
    },
    sweep,
  }
}

async function finishLeft(context: Context, before: number): Promise<void> {
  const rows = await context.database.query<App & { message: number }>(selectLeft, [before])
  for (const { message, ...app } of rows) await enactActions(context, app, message)
  await finishReviews(context, before)
}
