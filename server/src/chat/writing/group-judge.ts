import type { GroupScope } from '@parley/contract'
import { createCache } from '../../cache.ts'
import type { Queryable } from '../../store/database.ts'
import { readGroupPermissions } from '../groups/permissions.ts'
import type { GroupPermissions } from '../groups/rows.ts'
import { type Deed, isDenied } from './deeds.ts'

/** What a group's explicit permissions say about one deed: the scopes that may not do it. */
export interface ScopeVerdict {
  /** Bits: 1 participant, 2 moderator, 4 admin. */
  readonly deniedScopes: number
  readonly permissionsVersion: number
}

/**
 * Judges what is written to groups before it is written. The statement that asks the rules compares the version, under
 * the conversation's lock, and refuses a verdict that is out of date; so what is set holds from the next send on.
 */
export interface GroupJudge {
  judge(appId: number, guid: string, deed: Deed): ScopeVerdict
  /** Reads the group's permissions anew, after a verdict was out of date. */
  refresh(appId: number, guid: string): Promise<void>
}

/** Bits of the scopes, for the statement that compares them with that of the member. */
export const scopeBits = { participant: 1, moderator: 2, admin: 4 } as const satisfies Record<GroupScope, number>

interface KeptPermissions {
  readonly version: number
  readonly scopes: GroupPermissions
}

/** Nearly every group: nothing was ever set, everybody may write. */
const nothingSet: KeptPermissions = { version: 0, scopes: {} }

/** What holds between two users, who have no scopes. */
export const noScopes: ScopeVerdict = { deniedScopes: 0, permissionsVersion: 0 }

export function createGroupJudge(database: Queryable): GroupJudge {
  const kept = createCache<string, KeptPermissions>({ max: 10_000 })
  return {
    judge(appId, guid, deed) {
      const { version, scopes } = kept.get(`${appId} ${guid}`) ?? nothingSet
      let deniedScopes = 0
      for (const [scope, bit] of Object.entries(scopeBits) as Array<[GroupScope, number]>) {
        const explicit = scopes[scope]
        if (explicit && isDenied(explicit, deed)) deniedScopes |= bit
      }
      return { deniedScopes, permissionsVersion: version }
    },
    async refresh(appId, guid) {
      const current = await readGroupPermissions(database, appId, guid)
      if (current === undefined) kept.delete(`${appId} ${guid}`)
      else kept.set(`${appId} ${guid}`, current)
    },
  }
}
