import { createHash } from 'node:crypto'
import { limits } from '@parley/contract'
import type { App, Caller } from '../../../chat/identity.ts'
import { cut } from '../../../chat/messages/cut.ts'
import { type Correspondent, readCorrespondent, readReplyToken } from '../../../chat/notifications/reply-address.ts'
import type { Context } from '../../../context.ts'
import { send } from '../../messages/index.ts'
import type { IncomingMail } from './mail.ts'
import { cutQuotes } from './quotes.ts'

/** Why an e-mail is no reply: for nobody here, too late, written by a program, nothing in it. */
export type NoReply = 'NO_TOKEN' | 'ENDED' | 'AUTOMATIC' | 'EMPTY'

/** What somebody says by e-mail. */
export interface Reply extends Omit<Correspondent, 'app'> {
  readonly app: App
  readonly caller: Extract<Caller, { kind: 'user' }>
  readonly text: string
  /** So that an e-mail that comes twice is one message. */
  readonly muid: string | undefined
}

/** @param only replies to this app are taken; absent: to any. @param now epoch milliseconds */
export async function readReply(
  { database, secrets }: Pick<Context, 'database' | 'secrets'>,
  mail: IncomingMail,
  only: App | undefined,
  now: number,
): Promise<Reply | NoReply> {
  if (mail.isAutomatic) return 'AUTOMATIC'
  if (!mail.recipients.some((address) => /\+[a-z2-7]{30,}@/i.test(address))) return 'NO_TOKEN'
  const correspondent = await findCorrespondent()
  if (correspondent === undefined) return 'ENDED'
  const text = fitted(cutQuotes(mail.text))
  if (text === '') return 'EMPTY'
  const { app, uid } = correspondent
  return {
    ...correspondent,
    caller: { kind: 'user', uid, via: 'key' },
    text,
    muid: mail.messageId === undefined ? undefined : muidOf(app, mail.messageId),
  }

  async function findCorrespondent(): Promise<Correspondent | undefined> {
    for (const address of mail.recipients) {
      const token = readReplyToken(secrets, address, now)
      if (token === undefined || (only !== undefined && token.appId !== only.appId)) continue
      const found = await readCorrespondent(database, token)
      if (found !== undefined) return found
    }
    return undefined
  }
}

function muidOf({ appId }: App, messageId: string): string {
  return `mail-${createHash('sha256').update(`${appId} ${messageId}`).digest('hex').slice(0, 40)}`
}

/** Without what no message may have, and no longer than a message can be. */
function fitted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const clean = text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '').toWellFormed()
  const most = limits.messageDataBytes
  let fit = clean
  let length = most
  for (let bytes = bytesOf(fit); bytes > most; bytes = bytesOf(fit)) {
    fit = cut(clean, length)
    length = Math.floor((length * most) / Math.max(bytesOf(fit), most + 1)) - 1
  }
  return fit
}

const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify({ text }))

/** Sends it as its person does who posts a message. @returns the id of the message. @throws as that does */
export async function sendReply(context: Context, { app, caller, kind, receiver, text, muid }: Reply): Promise<string> {
  const body = { receiver, receiverType: kind, category: 'message', type: 'text', data: { text } } as const
  const answer = await send(context, app, caller, { ...body, ...(muid !== undefined && { muid }) })
  return (answer.toJSON().data as { id: string }).id
}
