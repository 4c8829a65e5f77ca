import { operations as apiKeys } from './areas/api-keys/operations.ts'
import { operations as apps } from './areas/apps/operations.ts'
import { operations as authTokens } from './areas/auth-tokens/operations.ts'
import { operations as bannedUsers } from './areas/banned-users/operations.ts'
import { operations as blockedUsers } from './areas/blocked-users/operations.ts'
import { operations as conversations } from './areas/conversations/operations.ts'
import { operations as dataImport } from './areas/data-import/operations.ts'
import { operations as events } from './areas/events/operations.ts'
import { operations as friends } from './areas/friends/operations.ts'
import { operations as groupMembers } from './areas/group-members/operations.ts'
import { operations as groups } from './areas/groups/operations.ts'
import { operations as me } from './areas/me/operations.ts'
import { operations as messageMarks } from './areas/messages/marks/operations.ts'
import { operations as messages } from './areas/messages/operations.ts'
import { operations as reactions } from './areas/messages/reactions/operations.ts'
import { operations as threads } from './areas/messages/threads/operations.ts'
import { operations as permissions } from './areas/permissions/operations.ts'
import { operations as restrictedFeatures } from './areas/restricted-features/operations.ts'
import { operations as roles } from './areas/roles/operations.ts'
import { operations as users } from './areas/users/operations.ts'
import { operations as webhooks } from './areas/webhooks/operations.ts'
import type { Route } from './call.ts'

/** Every operation that is served, by the file that serves it. A new area is added here. */
export const routesByFile: Readonly<Record<string, readonly Route[]>> = {
  'areas/api-keys/operations.ts': apiKeys,
  'areas/apps/operations.ts': apps,
  'areas/auth-tokens/operations.ts': authTokens,
  'areas/banned-users/operations.ts': bannedUsers,
  'areas/blocked-users/operations.ts': blockedUsers,
  'areas/conversations/operations.ts': conversations,
  'areas/data-import/operations.ts': dataImport,
  'areas/events/operations.ts': events,
  'areas/friends/operations.ts': friends,
  'areas/group-members/operations.ts': groupMembers,
  'areas/groups/operations.ts': groups,
  'areas/me/operations.ts': me,
  'areas/messages/marks/operations.ts': messageMarks,
  'areas/messages/operations.ts': messages,
  'areas/messages/reactions/operations.ts': reactions,
  'areas/messages/threads/operations.ts': threads,
  'areas/permissions/operations.ts': permissions,
  'areas/restricted-features/operations.ts': restrictedFeatures,
  'areas/roles/operations.ts': roles,
  'areas/users/operations.ts': users,
  'areas/webhooks/operations.ts': webhooks,
}

export const routes: readonly Route[] = Object.values(routesByFile).flat()
