import type { Operation } from '@parley/contract'
import type { Audit, AuditRecord } from '../../chat/audit/audit.ts'
import type { App } from '../../chat/identity.ts'
import type { Queryable } from '../../store/database.ts'

/** One call of an operator that changes something. */
export interface Deed {
  readonly operation: Pick<Operation, 'id' | 'method'>
  readonly app: App
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
}

/** The audit log of an operator, in which nothing that they change is missing. */
export interface DeedLog {
  readonly audit: Audit
  /** What the operation itself has not recorded, or only a part of it, is recorded as such. */
  finish(on: Queryable): Promise<void>
}

/** These record a part of what they do by itself: a token, a ban. */
const recordedInPart = new Set(['create-user', 'create-group', 'add-group-members', 'put-group-members'])

export function followDeed(audit: Audit, deed: Deed): DeedLog {
  let isRecorded = false
  const watched: Audit = {
    record(on, appId, record) {
      isRecorded = true
      return audit.record(on, appId, record)
    },
    by: audit.by,
  }
  return {
    audit: watched,
    async finish(on) {
      const { id, method } = deed.operation
      if (method === 'GET' || (isRecorded && !recordedInPart.has(id))) return
      for (const record of recordsOf(deed)) await audit.record(on, deed.app.appId, record)
    },
  }
}

type Target = Pick<AuditRecord, 'type' | 'target'>

/** On what, by the ids in the path; of what was sent, the names of its fields. */
function recordsOf({ operation, app, params, body }: Deed): AuditRecord[] {
  const { uid, guid, messageId, id, ...others } = params
  const named = Object.entries(others).filter(([name]) => /(Id|role|scope|permission)$/i.test(name))
  const fields = typeof body === 'object' && body !== null ? Object.keys(body) : []
  const details = {
    operation: operation.id,
    ...(guid !== undefined && (uid !== undefined || messageId !== undefined) && { guid: guid.toLowerCase() }),
    ...Object.fromEntries(named),
    ...(fields.length > 0 && { fields }),
  }
  const targets: Target[] =
    uid !== undefined
      ? [{ type: 'user', target: uid.toLowerCase() }]
      : (messageId ?? id) !== undefined && operation.id.includes('message')
        ? [{ type: 'message', target: messageId ?? id ?? '' }]
        : guid !== undefined
          ? [{ type: 'group', target: guid.toLowerCase() }]
          : usersIn(body)
  const on: Target[] = targets.length > 0 ? targets : [{ type: 'app', target: app.name }]
  return on.map((target) => ({ action: 'operator_acted', ...target, details }))
}

/** Who is deactivated or reactivated, which is asked for many at once. */
function usersIn(body: unknown): Target[] {
  const { uidsToDeactivate, uidsToActivate, uid } = (body ?? {}) as Record<string, unknown>
  const uids = [uidsToDeactivate, uidsToActivate, uid].flat().filter((one) => typeof one === 'string')
  return uids.map((one) => ({ type: 'user', target: one.toLowerCase() }))
}
