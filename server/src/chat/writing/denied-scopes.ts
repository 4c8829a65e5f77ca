import type { GroupScope } from '@parley/contract'
import { createCache } from '../../cache.ts'
import type { Queryable } from '../../store/database.ts'
import { readGroupPermissions } from '../groups/permissions.ts'
import type { GroupPermissions } from '../groups/rows.ts'
import type { ConversationKind } from '../kind.ts'
import { type Deed, isDenied } from './deeds.ts'
import type { Refusal } from './rules.ts'

/** What a group's explicit permissions say about one deed: the scopes that may not do it. */
export interface DeniedScopes {
  /** Bits: 1 participant, 2 moderator, 4 admin. */
  readonly deniedScopes: number
  readonly permissionsVersion: number
}

/**
 * The permissions of groups, as they are remembered. The statement that asks the rules compares the version, under the
 * conversation's lock, and refuses what was found by another one; so what is set holds from the next send on.
 */
export interface ScopePermissions {
  denied(appId: number, guid: string, deed: Deed): DeniedScopes
  /** Reads the group's permissions anew, after they turned out to be out of date. */
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
const noScopes: DeniedScopes = { deniedScopes: 0, permissionsVersion: 0 }

const maxAttempts = 5

/**
 * Writes by what the permissions of a group say, or asks whether one may. Where they were out of date it is done again by
 * those of now, a few times.
 * @param write refuses with `STALE_PERMISSIONS` what it was given of another version
 */
export async function writeByScopes<Result extends { readonly refusal: Refusal | null }>(
  permissions: ScopePermissions,
  appId: number,
  { kind, receiver }: { readonly kind: ConversationKind; readonly receiver: string },
  deed: Deed,
  write: (denied: DeniedScopes) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const written = await write(kind === 'group' ? permissions.denied(appId, receiver, deed) : noScopes)
    if (written.refusal !== 'STALE_PERMISSIONS' || attempt === maxAttempts) return written
    await permissions.refresh(appId, receiver)
  }
}

export function createScopePermissions(database: Queryable): ScopePermissions {
  const kept = createCache<string, KeptPermissions>({ max: 10_000 })
  return {
    denied(appId, guid, deed) {
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
