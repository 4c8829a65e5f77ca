import type { AuditAction, auditCallers, auditTargetTypes } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import { seal } from './seal.ts'

/** Who did something, as far as that is known. */
export interface AuditActor {
  readonly caller: (typeof auditCallers)[number]
  /** The fingerprint of the API key. */
  readonly key?: string | undefined
  readonly uid?: string | undefined
  /** The id of the operator. */
  readonly operator?: number | undefined
  /** The id of the operator's personal token. */
  readonly token?: number | undefined
  readonly address?: string | undefined
}

/** Who acts, or what says so once something is recorded: most requests record nothing. */
export type Acting = AuditActor | (() => AuditActor)

/** What was done. Nothing in it is secret. */
export interface AuditRecord {
  readonly action: AuditAction
  readonly type: (typeof auditTargetTypes)[number]
  readonly target: string
  readonly details?: object | undefined
}

/** The audit log, as whoever acts writes to it. */
export interface Audit {
  /** Records what was done, in the transaction in which it is done. */
  record(on: Queryable, appId: number, record: AuditRecord): Promise<void>
  /** The audit log of somebody else. */
  by(actor: Acting): Audit
}

const insert = statement(`
  insert into audit_log (app_id, created_at, action, caller, key, uid, operator, token, address, target_type, target, details, seal)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`)

/** What is of no app is recorded under this one, which no app has. */
export const deployment = 0

/** @param acting who acts where nobody else is named @param now epoch milliseconds */
export function createAudit(secrets: Pick<Secrets, 'digest'>, acting: Acting, now: () => number = Date.now): Audit {
  return {
    async record(on, appId, { action, type, target, details }) {
      const actor = typeof acting === 'function' ? acting() : acting
      const entry = {
        createdAt: Math.floor(now() / 1000),
        action,
        caller: actor.caller,
        key: actor.key ?? null,
        uid: actor.uid ?? null,
        operator: actor.operator ?? null,
        token: actor.token ?? null,
        address: actor.address ?? null,
        type,
        target,
        details: details === undefined ? null : JSON.stringify(details),
      }
      const { createdAt, caller, key, uid, operator, token, address } = entry
      const actedBy = [caller, key, uid, operator, token, address]
      const values = [appId, createdAt, action, ...actedBy, type, target, entry.details]
      await on.query(insert, [...values, seal(secrets, appId, entry)])
    },
    by: (other) => createAudit(secrets, other, now),
  }
}
