import { ApiError } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import type { App, Caller } from '../../chat/identity.ts'
import { readByMuid, type StoredMessage } from '../../chat/messages/rows.ts'
import { readUser } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Target } from './target.ts'

/** Something that is sent, by which it is known whether it was stored before: from whom, where to, with which muid. */
export interface SendRequest {
  readonly app: App
  readonly caller: Caller
  readonly target: Target
  readonly muid: string | undefined
}

/** Who a message is from: the app itself writes as the system user. */
export function senderOf(caller: Caller): string {
  return caller.kind === 'user' ? caller.uid : systemUid
}

/**
 * The message that is stored under a muid since it was sent before, whatever forbids its sender to send by now: they ask
 * what became of it. Nobody else gets it, nor does a sender who is deactivated.
 */
export async function findRepeated(
  { database }: Pick<Context, 'database'>,
  { app: { appId }, caller, target, muid }: SendRequest,
): Promise<StoredMessage | undefined> {
  if (muid === undefined) return undefined
  const sender = senderOf(caller)
  if (caller.kind === 'user') {
    const user = await readUser(database, appId, sender)
    if (user === undefined || user.deactivatedAt !== null) return undefined
  }
  return readByMuid(database, appId, { ...target, sender, muid })
}

/**
 * What is stored already, where sending it again was refused.
 * @throws the refusal, where nothing is stored
 */
export async function requireRepeated(
  context: Pick<Context, 'database'>,
  sending: SendRequest,
  refused: unknown,
): Promise<StoredMessage> {
  const stored = refused instanceof ApiError ? await findRepeated(context, sending) : undefined
  if (stored === undefined) throw refused
  return stored
}
