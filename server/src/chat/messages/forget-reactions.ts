import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'

/**
 * Takes reactions out of their events, where they go with their messages or their user: a reaction may be
 * any short text. By the indexes `events_of_reactions` and `events_of_reacting`.
 */
export const forgetReactionEvents = {
  /** @param messages an array of ids */
  ofMessages: (appId: number, messages: Fragment): Fragment => forget(appId, sql`message = any(${messages})`),
  ofUser: (appId: number, uid: string): Fragment => forget(appId, sql`data ->> 'uid' = ${uid}`),
}

function forget(appId: number, which: Fragment): Fragment {
  return sql`
    update events
    set data = (data::jsonb - 'reaction')::json
    where app_id = ${appKey(appId)}
    and trigger in ('message_reaction_added', 'message_reaction_removed')
    and ${which}`
}
