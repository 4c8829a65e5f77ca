import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import { erasable, messagesInGroup, messagesInPairs, untouched } from '../erasure.ts'
import { forgetProvidersAnswers } from '../messages/forget-answers.ts'
import { takeBackRemoved, toTakeBackSql } from './shown.ts'

/**
 * Whoever is removed is notified of nothing, and nothing is kept of what they were notified of, nor of what they did. Where a message was
 * sent to stays as long as its deletion has to find it.
 */
export const tables = [
  untouched('notification_settings', 'they are of the app'),
  untouched('notification_providers', 'they are of the app'),
  untouched('notification_senders', 'they are of the app'),
  untouched('notification_plans', 'they name an event'),
  untouched('notification_planners', 'they are of the app'),
  untouched('notification_flights', 'they are ids of notifications'),
  erasable('notification_preferences', { uids: ['uid'] }),
  erasable('notification_contacts', { uids: ['uid'] }),
  erasable('notification_unsubscriptions', { uids: ['uid'], conversation: 'conversation' }),
  erasable('notification_correspondences', { uids: ['uid'], conversation: 'conversation' }),
  erasable('push_tokens', { uids: ['uid'] }),
  erasable(
    'notification_mutes',
    { uids: ['uid'] },
    {
      ofUser: [
        ({ appId, uid }) => sql`
          delete from notification_mutes
          where app_id = ${appKey(appId)}
          and uid = ${uid}`,
        ({ appId, uid }) => sql`
          delete from notification_mutes
          where app_id = ${appKey(appId)}
          and kind = 1
          and peer = ${uid}`,
      ],
      ofGroup: [
        ({ appId, guid }) => sql`
          delete from notification_mutes
          where app_id = ${appKey(appId)}
          and kind = 2
          and peer = ${guid}`,
      ],
    },
  ),
  erasable(
    'notification_deliveries',
    { uids: ['uid'], position: 'message' },
    {
      ofMessages: [
        ({ appId, ids }) => sql`
          delete from notification_deliveries d
          where d.app_id = ${appKey(appId)}
          and d.message = any(${ids}::bigint[])
          and not (${sql.raw(toTakeBackSql)})`,
        ({ appId, ids }) => forgetProvidersAnswers(appId, sql`= any(${ids}::bigint[])`),
      ],
      ofUser: [
        // What others were shown of the one-to-one conversations.
        (user) => takeBackRemoved(user.appId, sql`in ${messagesInPairs(user)}`, user.uid),
        (user) => sql`
          delete from notification_deliveries
          where app_id = ${appKey(user.appId)}
          and message in ${messagesInPairs(user)}`,
        // Of the other one's windows, which name no message while they are open.
        ({ appId, pairs }) => sql`
          delete from notification_deliveries
          where app_id = ${appKey(appId)}
          and message is null
          and conversation = any(${pairs}::bigint[])`,
        ({ appId, uid }) => sql`
          delete from notification_deliveries
          where app_id = ${appKey(appId)}
          and uid = ${uid}`,
      ],
      ofGroup: [
        (group) => sql`
          delete from notification_deliveries
          where app_id = ${appKey(group.appId)}
          and message in ${messagesInGroup(group)}`,
        ({ appId, conversation }) => sql`
          delete from notification_deliveries
          where app_id = ${appKey(appId)}
          and message is null
          and conversation = ${conversation}`,
      ],
    },
  ),
]
