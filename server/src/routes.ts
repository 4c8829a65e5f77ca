import { operations as apiKeys } from './areas/api-keys/operations.ts'
import { operations as apps } from './areas/apps/operations.ts'
import { operations as auditLog } from './areas/audit-log/operations.ts'
import { operations as authTokens } from './areas/auth-tokens/operations.ts'
import { operations as bannedUsers } from './areas/banned-users/operations.ts'
import { operations as blockedUsers } from './areas/blocked-users/operations.ts'
import { operations as conversations } from './areas/conversations/operations.ts'
import { operations as dataImport } from './areas/data-import/operations.ts'
import { operations as events } from './areas/events/operations.ts'
import { operations as files } from './areas/files/operations.ts'
import { operations as friends } from './areas/friends/operations.ts'
import { operations as groupMembers } from './areas/group-members/operations.ts'
import { operations as groups } from './areas/groups/operations.ts'
import { operations as me } from './areas/me/operations.ts'
import { operations as messageMarks } from './areas/messages/marks/operations.ts'
import { operations as messages } from './areas/messages/operations.ts'
import { operations as reactions } from './areas/messages/reactions/operations.ts'
import { operations as threads } from './areas/messages/threads/operations.ts'
import { operations as moderationEngines } from './areas/moderation/engines/operations.ts'
import { operations as moderationFlags } from './areas/moderation/flags/operations.ts'
import { operations as moderationLists } from './areas/moderation/lists/operations.ts'
import { operations as moderatedMessages } from './areas/moderation/messages/operations.ts'
import { operations as moderationQueue } from './areas/moderation/queue/operations.ts'
import { operations as moderationReasons } from './areas/moderation/reasons/operations.ts'
import { operations as moderationRules } from './areas/moderation/rules/operations.ts'
import { operations as moderationTrials } from './areas/moderation/trials/operations.ts'
import { operations as contacts } from './areas/notifications/contact-operations.ts'
import { operations as notificationLogs } from './areas/notifications/log-operations.ts'
import { operations as mailProviders } from './areas/notifications/mail-provider-operations.ts'
import { operations as mailTrials } from './areas/notifications/mail-trial-operations.ts'
import { operations as notifications } from './areas/notifications/operations.ts'
import { operations as pushProviders } from './areas/notifications/push-provider-operations.ts'
import { operations as emulators } from './areas/operators/emulator-operations.ts'
import { operations as health } from './areas/operators/health/operations.ts'
import { operations as importChecks } from './areas/operators/import-operations.ts'
import type { AdminRoute } from './areas/operators/index.ts'
import { operations as operators } from './areas/operators/operations.ts'
import { operations as userSessions } from './areas/operators/user-session-operations.ts'
import { operations as permissions } from './areas/permissions/operations.ts'
import { operations as personExports } from './areas/person-exports/operations.ts'
import { operations as restrictedFeatures } from './areas/restricted-features/operations.ts'
import { operations as retention } from './areas/retention/operations.ts'
import { operations as roles } from './areas/roles/operations.ts'
import { operations as stats } from './areas/stats/operations.ts'
import { operations as users } from './areas/users/operations.ts'
import { operations as webhooks } from './areas/webhooks/operations.ts'
import type { Route } from './call.ts'
import { operations as feed } from './sockets/feed/operations.ts'

/** Every operation that is served, by the file that serves it. A new area is added here. */
export const routesByFile: Readonly<Record<string, readonly Route[]>> = {
  'areas/api-keys/operations.ts': apiKeys,
  'areas/apps/operations.ts': apps,
  'areas/audit-log/operations.ts': auditLog,
  'areas/auth-tokens/operations.ts': authTokens,
  'areas/banned-users/operations.ts': bannedUsers,
  'areas/blocked-users/operations.ts': blockedUsers,
  'areas/conversations/operations.ts': conversations,
  'areas/data-import/operations.ts': dataImport,
  'areas/events/operations.ts': events,
  'areas/files/operations.ts': files,
  'areas/friends/operations.ts': friends,
  'areas/group-members/operations.ts': groupMembers,
  'areas/groups/operations.ts': groups,
  'areas/me/operations.ts': me,
  'areas/messages/marks/operations.ts': messageMarks,
  'areas/messages/operations.ts': messages,
  'areas/messages/reactions/operations.ts': reactions,
  'areas/messages/threads/operations.ts': threads,
  'areas/moderation/engines/operations.ts': moderationEngines,
  'areas/moderation/lists/operations.ts': moderationLists,
  'areas/moderation/reasons/operations.ts': moderationReasons,
  'areas/moderation/rules/operations.ts': moderationRules,
  'areas/moderation/flags/operations.ts': moderationFlags,
  'areas/moderation/messages/operations.ts': moderatedMessages,
  'areas/moderation/queue/operations.ts': moderationQueue,
  'areas/moderation/trials/operations.ts': moderationTrials,
  'areas/notifications/contact-operations.ts': contacts,
  'areas/notifications/mail-provider-operations.ts': mailProviders,
  'areas/notifications/mail-trial-operations.ts': mailTrials,
  'areas/notifications/operations.ts': notifications,
  'areas/notifications/log-operations.ts': notificationLogs,
  'areas/notifications/push-provider-operations.ts': pushProviders,
  'areas/permissions/operations.ts': permissions,
  'areas/restricted-features/operations.ts': restrictedFeatures,
  'areas/roles/operations.ts': roles,
  'areas/stats/operations.ts': stats,
  'areas/retention/operations.ts': retention,
  'areas/person-exports/operations.ts': personExports,
  'areas/users/operations.ts': users,
  'areas/webhooks/operations.ts': webhooks,
  'sockets/feed/operations.ts': feed,
}

export const routes: readonly Route[] = Object.values(routesByFile).flat()

/** Every operation of the admin API. */
export const adminRoutes: readonly AdminRoute[] = [
  ...operators,
  ...health,
  ...userSessions,
  ...importChecks,
  ...emulators,
]
