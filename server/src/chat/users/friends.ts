import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

const selectFriend = statement(`
  select friend
  from friends
  where app_id = $1
  and uid = $2
  and friend = $3`)

/** Whether two users are friends. */
export async function areFriends(on: Queryable, appId: number, uid: string, other: string): Promise<boolean> {
  return (await on.query(selectFriend, [appId, uid, other])).length > 0
}
