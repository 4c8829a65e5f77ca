/**
 * One statement of the seeding. All run in one transaction and find there:
 *
 * - the table `seed`, of one row: `app_id`, and `begins` and `ends`, the times between which everything happens;
 * - `pg_temp.seed_uid(i)`, the uid of the i-th user, `busy` for 0;
 * - `pg_temp.seed_hash(n, salt)`, a number of 31 bits that is always the same for the same numbers.
 */
export interface Step {
  readonly name: string
  readonly sql: string
  /** It gathers statistics of the service's tables. */
  readonly isAnalysis?: true
}

const days = 90

/** What the steps lean on. */
export function foundations(appId: number): string[] {
  return [
    `create temp table seed on commit drop as
      select ${appId}::int as app_id, n - ${days * 86_400} as begins, n - 60 as ends
      from (select extract(epoch from now())::bigint as n) t`,
    `create or replace function pg_temp.seed_uid(i bigint) returns text immutable language sql as
      $$ select case i when 0 then 'busy' else 'u' || i end $$`,
    `create or replace function pg_temp.seed_hash(n bigint, salt bigint) returns int immutable language sql as
      $$ select hashint8(n * 1000003 + salt) & 2147483647 $$`,
  ]
}
