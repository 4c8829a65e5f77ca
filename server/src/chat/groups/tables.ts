import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import { systemUid } from '../apps.ts'
import { erasable } from '../erasure.ts'

export const groupTables = [
  erasable('group_members', { guid: 'guid', uids: ['uid'] }),

  erasable(
    'groups',
    { guid: 'guid' },
    {
      ofUser: [
        (user) => sql`
          update groups
          set members_count = members_count - 1,
            updated_at = ${user.now}
          where app_id = ${appKey(user.appId)}
          and guid = any(${user.counted}::text[])`,
        // What they owned passes to the oldest admin who is left, else to the system user.
        (user) => sql`
          update groups g
          set owner = coalesce(
              (
                select m.uid
                from group_members m
                join users u on u.app_id = m.app_id
                  and u.uid = m.uid
                where m.app_id = g.app_id
                and m.guid = g.guid
                and m.scope = 'admin'
                and u.deactivated_at is null
                order by m.joined_at, m.uid
                limit 1
              ),
              ${systemUid}
            ),
            updated_at = ${user.now},
            updated_by = ${systemUid}
          where g.app_id = ${appKey(user.appId)}
          and g.owner = ${user.uid}`,
        (user) => sql`
          update groups
          set updated_by = ${systemUid}
          where app_id = ${appKey(user.appId)}
          and guid = any(${user.guids}::text[])
          and updated_by = ${user.uid}`,
      ],
    },
  ),

  erasable(
    'group_bans',
    { guid: 'guid' },
    {
      // Bans of the user themselves stay: whoever is given the uid after them is banned.
      ofUser: [
        (user) => sql`
          update group_bans
          set banned_by = ${systemUid}
          where app_id = ${appKey(user.appId)}
          and banned_by = ${user.uid}`,
      ],
    },
  ),
]
