import { tables as apiKeys } from './areas/api-keys/tables.ts'
import { tables as authTokens } from './areas/auth-tokens/tables.ts'
import { tables as blockedUsers } from './areas/blocked-users/tables.ts'
import { tables as friends } from './areas/friends/tables.ts'
import { tables as search } from './areas/messages/search/tables.ts'
import { tables as operators } from './areas/operators/tables.ts'
import { tables as personExports } from './areas/person-exports/tables.ts'
import { tables as retention } from './areas/retention/tables.ts'
import { tables as roles } from './areas/roles/tables.ts'
import { tables as webhooks } from './areas/webhooks/tables.ts'
import { auditTables } from './chat/audit/tables.ts'
import { conversationTables, receiptTables } from './chat/conversations/tables.ts'
import { type ErasableTable, untouched } from './chat/erasure.ts'
import { groupTables } from './chat/groups/tables.ts'
import { messageTables } from './chat/messages/tables.ts'
import { engineTables } from './chat/moderation/engine-tables.ts'
import { heldTables } from './chat/moderation/held-tables.ts'
import { queueTables } from './chat/moderation/queue-tables.ts'
import { moderationRuleTables } from './chat/moderation/tables.ts'
import { nameTables } from './chat/name-search.ts'
import { tables as notifications } from './chat/notifications/tables.ts'
import { usageTables } from './chat/usage/tables.ts'
import { appTables, userTables } from './chat/users/tables.ts'
import { tables as events } from './events/tables.ts'
import { tables as presence } from './sockets/presence/tables.ts'

/**
 * Every table of the database, each declared where its rows are at home: what becomes of them when a user, a group or a
 * message is removed for good. In the order in which that is done: what is found by messages before the messages, what is
 * found by conversations before those, users last. Whoever adds a table adds it here; a test and `parley doctor` find one
 * that is missing.
 */
export const tables: readonly ErasableTable[] = [
  ...personExports,
  ...retention,
  ...receiptTables,
  ...events,
  ...notifications,
  ...heldTables,
  ...moderationRuleTables,
  ...queueTables,
  ...messageTables,
  ...conversationTables,
  ...groupTables,
  ...authTokens,
  ...friends,
  ...blockedUsers,
  ...presence,
  ...usageTables,
  ...userTables,
  ...auditTables,
  ...nameTables,
  ...search,
  ...webhooks,
  ...apiKeys,
  ...roles,
  ...engineTables,
  ...operators,
  ...appTables,
  untouched('settings', 'settings are of the installation'),
  untouched('ledger', 'it tells a restore what is to go again, and names nobody'),
  untouched('backup_runs', 'backups are of the installation'),
  untouched('kysely_migration', 'names what was done to the database'),
  untouched('kysely_migration_lock', 'names nothing'),
]
