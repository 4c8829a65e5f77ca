import type { Migration } from 'kysely'
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
}
