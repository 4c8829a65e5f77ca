import { sql } from 'kysely'
import type { Fragment } from '../../../store/statement.ts'

/**
 * Takes reactions out of the events that tell of them, where they go with their messages: a reaction may be any short
 * text. By the index `events_of_reactions`.
 * @param which condition on the events, e.g. ``sql`message in (...)` ``
 */
export function forgetReactionEvents(appId: number, which: Fragment): Fragment {
  return sql`
    update events
    set data = (data::jsonb - 'reaction')::json
    where app_id = ${appId}
    and trigger in ('message_reaction_added', 'message_reaction_removed')
    and ${which}`
}
