import { operations as apiKeys } from './areas/api-keys/operations.ts'
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

/** Every operation that is served. A new area is added here. */
export const routes: readonly Route[] = [
  ...apiKeys,
  ...authTokens,
  ...bannedUsers,
  ...blockedUsers,
  ...conversations,
  ...events,
  ...friends,
  ...dataImport,
  ...groupMembers,
  ...groups,
  ...me,
  ...messageMarks,
  ...messages,
  ...permissions,
  ...reactions,
  ...restrictedFeatures,
  ...roles,
  ...threads,
  ...users,
  ...webhooks,
]
