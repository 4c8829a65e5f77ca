import type { OwnServices } from './own-services.ts'

/**
 * Has the database roll back the first statement by which something of a table is delivered, as it does after a deadlock.
 * @returns ends that, and tells how many rows were to be written all in all
 */
export async function rollBackFirst(own: OwnServices, table: string): Promise<() => Promise<number>> {
  await own.query('create sequence writes')
  await own.query(
    `create function roll_back_first() returns trigger language plpgsql as $$
    begin
      if nextval('writes') = 1 then
        raise exception 'deadlock detected' using errcode = 'deadlock_detected';
      end if;
      return new;
    end $$`,
  )
  await own.query(
    `create trigger roll_back_first
    before update on ${table}
    for each row when (new.status = 'delivered') execute function roll_back_first()`,
  )
  return async () => {
    await own.query(`drop trigger roll_back_first on ${table}`)
    const [writes] = await own.query<{ last: string }>('select last_value as last from writes')
    await own.query('drop function roll_back_first')
    await own.query('drop sequence writes')
    return Number(writes?.last)
  }
}
