import type { Step } from './step.ts'

/**
 * What moderation leaves: half of the messages were judged, many wait for reviewers, many were reviewed, and beside them stand
 * messages that are held or were blocked, which count nowhere; none in the one-to-one conversations of `busy`. Nobody is asked about
 * those that are pending.
 */
export function moderation(): Step[] {
  return [
    {
      name: 'judged messages',
      sql: `
        create temp table seed_judged on commit drop as
        select m.*, o.h, o.h % 5 as lot
        from messages m
        join seed s on s.app_id = m.app_id
        join seed_messages o on o.id = m.id
        where o.role = 'said'`,
    },
    {
      name: 'status of messages',
      sql: `
        update messages m
        set traits = m.traits | 4096
        from seed_judged j
        where m.app_id = j.app_id
        and m.id = j.id
        and j.h % 2 = 0`,
    },
    {
      name: 'flags',
      sql: `
        insert into moderation_flags (app_id, message, uid, reason_id, reason_name, flagged_at)
        select app_id, id, case when h % 1000 = 0 then 'u7' else 'busy' end,
          case when h % 100 = 0 then 'violence' else 'spam' end, 'Reason', sent_at + 60
        from seed_judged
        where lot < 4`,
    },
    {
      name: 'queue',
      sql: `
        insert into moderation_queue (app_id, message, opened_at, by_rule, status)
        select app_id, id, sent_at + 60,
          case when h % 100 = 1 then
            '[{"ruleId": "rare", "ruleName": "Rare", "revision": 1, "condition": {"id": 1, "value": []}}]' else '[]'
          end::json,
          case when lot < 2 then 'open' else 'approved' end
        from seed_judged
        where lot < 4`,
    },
    {
      name: 'reviews',
      sql: `
        insert into moderation_reviews (app_id, message, list, decision, reviewer, reviewed_at, settled)
        select app_id, id, 'flagged', 'approved', case when h % 1000 = 2 then 'rare' else 'often' end, sent_at + 120, true
        from seed_judged
        where lot in (2, 3)`,
    },
    {
      name: 'held messages',
      sql: `
        create temp table seed_held on commit drop as
        select nextval('message_ids') as held, j.*, case when j.h % 3 = 0 then 8192 else 16384 end as bit
        from (select * from seed_judged order by sent_at, id) j
        where kind = 2
        or not exists (
          select
          from conversation_states t
          where t.app_id = j.app_id
          and t.conversation = j.conversation
          and t.uid = 'busy'
        )`,
    },
    {
      name: 'messages that are held',
      sql: `
        insert into messages (
          app_id, id, conversation, sender, kind, receiver, category, type, data, traits, countable, sent_at, updated_at
        )
        select app_id, held, conversation, sender, kind, receiver, category, type, data, 4096 | bit, false, sent_at, sent_at
        from seed_held`,
    },
    {
      name: 'why they are held',
      sql: `
        insert into message_moderation (
          app_id, message, conversation, sender, status, held_from, rule_id, rule_name, rule_revision, actions, lane, took,
          created_at, updated_at, reviewed_at, review_status
        )
        select app_id, held, conversation, sender, case bit when 8192 then 'pending' else 'disapproved' end, sent_at,
          case when h % 1000 = 1 then 'rare' else 'often' end, 'Rule', 1, '{blockMessage}', 'one', 10, sent_at, sent_at,
          case when seen then sent_at + 60 end, case when seen then 'rejected' end
        from (select *, bit = 16384 and h % 8 < 4 as seen from seed_held) j`,
    },
    {
      name: 'decisions',
      sql: `
        insert into moderation_decisions (app_id, message, rule_id, rule_revision, mode, lane, took, actions, decision, at, acted)
        select app_id, held, case when h % 1000 = 1 then 'rare' else 'often' end, 1, 'on', 'one', 10, '{blockMessage}',
          'disapproved', sent_at, true
        from seed_held
        where bit = 16384`,
    },
  ]
}
