import { sql } from 'kysely'
import { erasable } from '../../chat/erasure.ts'
import { appKey } from '../../store/app-key.ts'

/** A friendship is kept from both sides. */
export const tables = [
  erasable(
    'friends',
    { uids: ['uid', 'friend'] },
    {
      ofUser: [
        (user) => sql`
          delete from friends f
          using friends mine
          where mine.app_id = ${appKey(user.appId)}
          and mine.uid = ${user.uid}
          and f.app_id = mine.app_id
          and f.uid = mine.friend
          and f.friend = mine.uid`,
        (user) => sql`delete from friends where app_id = ${appKey(user.appId)} and uid = ${user.uid}`,
      ],
    },
  ),
]
