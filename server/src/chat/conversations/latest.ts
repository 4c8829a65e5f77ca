/**
 * One conversation by its parts, for a lateral join: `<alias> (app_id, kind, first, second)` names it.
 *
 * A conversation is written with every message, and while any transaction on the database looks at an older state (a
 * backup, an export), none of its versions can be cleared away. They are of one key, and an index has entries of one key in the order
 * of their places, so the latest version is usually the last: looked for from the end, it is found at once, where an
 * equality would look at every version. The bounds say what an equality would, but keep the order from being planned away.
 */
export function latestByParts(columns: string, alias: string): string {
  return `(
      select ${columns}
      from conversations v
      where v.app_id = ${alias}.app_id and v.kind = ${alias}.kind and v.first = ${alias}.first
      and v.second >= ${alias}.second and v.second <= ${alias}.second
      order by v.second desc
      limit 1
    )`
}

/** As `latestByParts`, by key: `<alias> (app_id, key)` names it. @param lock such as `for no key update` */
export function latestByKey(columns: string, alias: string, lock = ''): string {
  return `(
      select ${columns}
      from conversations v
      where v.app_id = ${alias}.app_id and v.key >= ${alias}.key and v.key <= ${alias}.key
      order by v.key desc
      limit 1
      ${lock}
    )`
}
