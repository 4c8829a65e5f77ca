/**
 * Counts notifications that came to an end, as a common table expression of the statement that ended them.
 * @param rows a query for their `app_id`, `channel`, `status` and `ended_at` (epoch milliseconds), of one app
 */
export function countEnded(rows: string): string {
  return `
    insert into usage_notifications as u (app_id, day, channel, outcome, count)
    select app_id, ended_at / 86400000, channel, status, count(*)
    from (${rows}) e
    where status <> 'pending'
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict (app_id, day, channel, outcome) do update
    set count = u.count + excluded.count`
}
