/*
 * What decides whether a user is notified, as pieces of SQL: asked when something is planned, when it is about to be sent, and
 * of what stays unread. In all of them `$1` is the app.
 */

/** The conversation of a row that has `app_id` and `conversation`, looked up by its key whatever the planner knows of the table. */
export const conversationOf = (of: string) => `
    select c.kind, c.first, c.second
    from conversations c
    where c.app_id = ${of}.app_id
    and c.key = ${of}.conversation
    order by c.key
    limit 1`

/** Whether a user follows a thread. With `offset`, it is looked up for each, and never read for all of an app at once. */
export const followsThreadSql = (uid: string, parent: string) => `(
      ${parent} is not null
      and exists (
        select
        from thread_subscriptions f
        where f.app_id = $1
        and f.parent_id = ${parent}
        and f.uid = ${uid}
        offset 0
      )
    )`

/**
 * Whether a block stands between a user and those who did something: the user's own, and in one-to-one conversations theirs. Each is
 * a look of its own into an index: as one condition they would be put together from two, which costs more than both.
 * @param kind of the conversation
 * @param others `m.sender`, or `any(h.actors)`
 */
export const isBlockedSql = (uid: string, kind: string, others: string) => `(
      exists (
        select
        from blocks b
        where b.app_id = $1
        and b.blocker = ${uid}
        and b.blocked = ${others}
        offset 0
      )
      or (
        ${kind} = 1
        and exists (
          select
          from blocks b
          where b.app_id = $1
          and b.blocked = ${uid}
          and b.blocker = ${others}
          offset 0
        )
      )
    )`

/**
 * The mute `mu` that a user has of a conversation, of which `from` has `kind`, `first` and `second`. As a range with an order it is looked
 * for among those of the user, which are few: of a group there are as many as have muted it, and an empty table looks the same to the
 * planner either way.
 */
export const mutesJoin = (uid: string, from: string) => `left join lateral (
    select mu.uid, mu.until
    from notification_mutes mu
    where mu.app_id = $1
    and mu.uid >= ${uid}
    and mu.uid <= ${uid}
    and mu.kind = ${from}.kind
    and mu.peer = case when ${from}.kind = 1 and ${uid} = ${from}.first then ${from}.second else ${from}.first end
    order by mu.uid
    limit 1
  ) mu on true`

/** The preferences `p` of a user. */
export const preferencesJoin = (uid: string) => `left join lateral (
    select p.uid, p.preferences, p.timezone
    from notification_preferences p
    where p.app_id = $1
    and p.uid = ${uid}
    order by p.uid
    limit 1
  ) p on true`

/** What a user `uid` has read and cleared, `s`, of the conversation of a row `of`. */
export const stateJoin = (uid: string, of: string) => `left join lateral (
    select s.read_sent_at, s.read_id, s.cleared_sent_at, s.cleared_id
    from conversation_states s
    where s.app_id = $1
    and s.uid = ${uid}
    and s.conversation = ${of}.conversation
    order by s.uid, s.conversation
    limit 1
  ) s on true`

/** What is known of the address of a user, whose contacts are `k`, for a channel `t`. */
export const addressSql = `case
      when t.channel = 'push' then null
      when not t.uses_address then 'notNeeded'
      when case t.channel when 'email' then k.email else k.phone end is null then 'missing'
      when case t.channel when 'email' then k.email = k.refused_email else k.phone = k.refused_phone end then 'refused'
      else 'stored'
    end`

/** Whether users are found by what is stored of them, by a provider `n` of e-mail or SMS: the app's own may know them. */
export const usesAddressSql = `coalesce(
      (n.settings ->> case n.channel when 'email' then 'useStoredEmailID' else 'useStoredPhNo' end)::boolean, true)`

/** Whether a user wants nothing of a channel, or nothing of a conversation by it. */
export const unsubscribedSql = (uid: string, channel: string, conversation: string) => `exists (
      select
      from notification_unsubscriptions x
      where x.app_id = $1
      and x.uid = ${uid}
      and x.channel = ${channel}
      and (x.conversation is null or x.conversation = ${conversation})
    )`
