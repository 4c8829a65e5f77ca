import { type MessageTraits, messageSendDenial, type Permissions } from '@parley/contract'
import { LRUCache } from 'lru-cache'
import { readGroupPermissions } from '../../../chat/groups/permissions.ts'
import { attachmentsOf } from '../../../chat/messages/traits.ts'
import type { Queryable } from '../../../store/database.ts'
import type { Content } from '../content.ts'

/** Which family of permissions a message needs: replies in threads have one of their own. */
export type SendPrefix = 'sendMessage' | 'sendThreadedMessage'

/** What a group's explicit permissions say about one message: the scopes that may not send it. */
export interface Judgement {
  /** Bits: 1 participant, 2 moderator, 4 admin. */
  readonly deniedScopes: number
  readonly permissionsVersion: number
}

/**
 * Judges messages to groups before they are written. The batch statement compares the version, under the
 * conversation's lock, and refuses a judgement that is out of date; so what is set holds from the next send on.
 */
export interface GroupJudge {
  judge(appId: number, guid: string, prefix: SendPrefix, content: Content): Judgement
  /** Reads the group's permissions anew, after a judgement was out of date. */
  refresh(appId: number, guid: string): Promise<void>
}

const scopeBits = { participant: 1, moderator: 2, admin: 4 } as const

interface KeptPermissions {
  readonly version: number
  readonly scopes: Readonly<Partial<Record<keyof typeof scopeBits, Permissions>>>
}

/** Nearly every group: nothing was ever set, everybody may send. */
const nothingSet: KeptPermissions = { version: 0, scopes: {} }

export function createGroupJudge(database: Queryable): GroupJudge {
  const kept = new LRUCache<string, KeptPermissions>({ max: 10_000 })
  return {
    judge(appId, guid, prefix, content) {
      const { version, scopes } = kept.get(`${appId} ${guid}`) ?? nothingSet
      const message = describeForPermissions(content)
      let deniedScopes = 0
      for (const [scope, bit] of Object.entries(scopeBits) as Array<[keyof typeof scopeBits, number]>) {
        const explicit = scopes[scope]
        if (explicit && messageSendDenial(explicit, prefix, message, true) !== undefined) deniedScopes |= bit
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

/** What a message shows to those who judge it. */
export function describeForPermissions({ category, type, data }: Content): MessageTraits {
  const mimeTypes = attachmentsOf(data).map(({ mimeType }) => (typeof mimeType === 'string' ? mimeType : ''))
  return { category, type, mimeTypes }
}
