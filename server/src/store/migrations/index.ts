import * as foundation from './0001-foundation.ts'
import * as messageFeatures from './0002-message-features.ts'
import * as search from './0003-search.ts'
import * as media from './0004-media.ts'
import * as events from './0005-events.ts'
import * as webhooks from './0006-webhooks.ts'
import * as presence from './0007-presence.ts'
import * as participation from './0008-participation.ts'
import * as appSettings from './0009-app-settings.ts'
import * as formerUsers from './0010-former-users.ts'
import * as agenticRole from './0011-agentic-role.ts'
import * as auditLog from './0012-audit-log.ts'
import * as uploads from './0013-uploads.ts'
import * as nameSearch from './0014-name-search.ts'
import * as notifications from './0015-notifications.ts'
import * as tokenUse from './0016-token-use.ts'
import * as unreadWindows from './0017-unread-windows.ts'
import * as mailLinks from './0018-mail-links.ts'
import * as conversationTotals from './0021-conversation-totals.ts'
import * as fileOrigins from './0022-file-origins.ts'
import * as usage from './0024-usage.ts'
import * as moderationRules from './0025-moderation-rules.ts'
import * as moderatedMessages from './0026-moderated-messages.ts'
import * as moderationQueue from './0027-moderation-queue.ts'
import * as moderationEngines from './0028-moderation-engines.ts'
import * as takeBacks from './0029-take-backs.ts'
import * as notificationDays from './0030-notification-days.ts'
import * as notificationUsage from './0031-notification-usage.ts'
import * as heldMessages from './0032-held-messages.ts'
import * as reviewQueue from './0033-review-queue.ts'
import * as moderationNames from './0036-moderation-names.ts'
import * as ruleUsage from './0037-rule-usage.ts'
import * as feed from './0038-feed.ts'
import * as operators from './0039-operators.ts'
import * as pausedApps from './0040-paused-apps.ts'
import * as operatorIdentities from './0042-operator-identities.ts'
import * as doctorRuns from './0046-doctor-runs.ts'
import * as jwtLogins from './0047-jwt-logins.ts'
import * as personExports from './0051-person-exports.ts'
import * as erasures from './0052-erasures.ts'
import * as retention from './0053-retention.ts'
import * as keptMessageIds from './0060-kept-message-ids.ts'
import * as appImports from './0061-app-imports.ts'
import * as ledger from './0070-ledger.ts'
import * as backupRuns from './0071-backup-runs.ts'
import * as keys from './0075-keys.ts'
import * as auditChain from './0085-audit-chain.ts'
import * as auditIndexes from './0086-audit-indexes.ts'
import * as notificationPlanners from './0095-notification-planners.ts'
import * as removedOperators from './0096-removed-operators.ts'
import * as notificationFlights from './0097-notification-flights.ts'
import * as keyOrigins from './0098-key-origins.ts'
import * as keyPredecessors from './0099-key-predecessors.ts'
import * as removedMessages from './0100-removed-messages.ts'
import * as upkeepIndexes from './0110-upkeep-indexes.ts'
import * as conversationSides from './0120-conversation-sides.ts'
import * as webhookAnswers from './0130-webhook-answers.ts'
import * as begunConversations from './0140-begun-conversations.ts'
import * as notedErasures from './0160-noted-erasures.ts'
import * as actionsAboutUsers from './0170-actions-about-users.ts'
import * as changesByOthers from './0180-changes-by-others.ts'
import * as bansByUsers from './0190-bans-by-users.ts'
import type { Migration } from './migration.ts'

/** In the order of their names. Each must be repeatable: `if not exists`, since a later version may be half applied. */
export const migrations: Record<string, Migration> = {
  '0001-foundation': foundation,
  '0002-message-features': messageFeatures,
  '0003-search': search,
  '0004-media': media,
  '0005-events': events,
  '0006-webhooks': webhooks,
  '0007-presence': presence,
  '0008-participation': participation,
  '0009-app-settings': appSettings,
  '0010-former-users': formerUsers,
  '0011-agentic-role': agenticRole,
  '0012-audit-log': auditLog,
  '0013-uploads': uploads,
  '0014-name-search': nameSearch,
  '0015-notifications': notifications,
  '0016-token-use': tokenUse,
  '0017-unread-windows': unreadWindows,
  '0018-mail-links': mailLinks,
  '0021-conversation-totals': conversationTotals,
  '0022-file-origins': fileOrigins,
  '0024-usage': usage,
  '0025-moderation-rules': moderationRules,
  '0026-moderated-messages': moderatedMessages,
  '0027-moderation-queue': moderationQueue,
  '0028-moderation-engines': moderationEngines,
  '0029-take-backs': takeBacks,
  '0030-notification-days': notificationDays,
  '0031-notification-usage': notificationUsage,
  '0032-held-messages': heldMessages,
  '0033-review-queue': reviewQueue,
  '0036-moderation-names': moderationNames,
  '0037-rule-usage': ruleUsage,
  '0038-feed': feed,
  '0039-operators': operators,
  '0040-paused-apps': pausedApps,
  '0042-operator-identities': operatorIdentities,
  '0046-doctor-runs': doctorRuns,
  '0047-jwt-logins': jwtLogins,
  '0051-person-exports': personExports,
  '0052-erasures': erasures,
  '0053-retention': retention,
  '0060-kept-message-ids': keptMessageIds,
  '0061-app-imports': appImports,
  '0070-ledger': ledger,
  '0071-backup-runs': backupRuns,
  '0075-keys': keys,
  '0085-audit-chain': auditChain,
  '0086-audit-indexes': auditIndexes,
  '0095-notification-planners': notificationPlanners,
  '0096-removed-operators': removedOperators,
  '0097-notification-flights': notificationFlights,
  '0098-key-origins': keyOrigins,
  '0099-key-predecessors': keyPredecessors,
  '0100-removed-messages': removedMessages,
  '0110-upkeep-indexes': upkeepIndexes,
  '0120-conversation-sides': conversationSides,
  '0130-webhook-answers': webhookAnswers,
  '0140-begun-conversations': begunConversations,
  '0160-noted-erasures': notedErasures,
  '0170-actions-about-users': actionsAboutUsers,
  '0180-changes-by-others': changesByOthers,
  '0190-bans-by-users': bansByUsers,
}
