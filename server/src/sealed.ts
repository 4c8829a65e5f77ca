import type { SealedColumn } from './store/reseal.ts'

/**
 * Every column with sealed values, for when the key that seals is changed. Whoever adds one adds it here; a test finds one that
 * is missing.
 */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'api_keys', column: 'sealed' },
  { table: 'auth_tokens', column: 'sealed' },
  { table: 'webhooks', column: 'password_sealed' },
  { table: 'webhooks', column: 'secret_sealed' },
  { table: 'webhooks', column: 'old_secret_sealed' },
  { table: 'notification_providers', column: 'sealed' },
  { table: 'push_tokens', column: 'sealed' },
  { table: 'moderation_list_revisions', column: 'password_sealed' },
  { table: 'moderation_engines', column: 'key_sealed' },
  { table: 'operators', column: 'totp_secret' },
  { table: 'operators', column: 'totp_pending' },
]
