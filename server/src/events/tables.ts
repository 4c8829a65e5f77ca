import { sql } from 'kysely'
import { erasable, messagesInGroup, messagesInPairs, untouched } from '../chat/erasure.ts'
import { forgetReactionEvents } from '../chat/messages/forget-reactions.ts'
import { forgetEngineAnswers } from '../chat/moderation/forget.ts'

/**
 * Events name users, groups and messages by id, and show what there is of them when they are read. But for reactions, which
 * may be any short text, and for what engines of moderation answered, which may quote the message: those go out of them.
 */
export const tables = [
  erasable(
    'events',
    {},
    {
      ofUser: [
        (user) => forgetReactionEvents.ofMessages(user.appId, sql`array${messagesInPairs(user)}`),
        (user) => forgetReactionEvents.ofUser(user.appId, user.uid),
        (user) => forgetEngineAnswers(user.appId, sql`array${messagesInPairs(user)}`),
      ],
      ofGroup: [
        (group) => forgetReactionEvents.ofMessages(group.appId, sql`array${messagesInGroup(group)}`),
        (group) => forgetEngineAnswers(group.appId, sql`array${messagesInGroup(group)}`),
      ],
      ofMessages: [
        ({ appId, ids }) => forgetReactionEvents.ofMessages(appId, sql`${ids}::bigint[]`),
        ({ appId, ids }) => forgetEngineAnswers(appId, sql`${ids}::bigint[]`),
      ],
    },
  ),
  untouched('event_horizon', 'names no event'),
]
