import type { App } from '../../chat/identity.ts'
import { readMessages, type StoredMessage } from '../../chat/messages/rows.ts'
import type { StoredQuestion } from '../../chat/moderation/verdict.ts'
import type { Line, Said } from './ask/line.ts'
import type { Claimed } from './claim.ts'
import { type AskedQuestion, type Ruling, rule } from './decide.ts'
import { createRequests, engineOf, keyOf, type RequestOptions } from './requests.ts'

export interface PassOptions extends RequestOptions {
  readonly line: Line
}

/** What engines say of a message that waits. */
export interface Judged {
  readonly message: StoredMessage
  readonly ruling: Ruling
  /** Until the last engine had answered, in microseconds. */
  readonly took: number
}

/**
 * Asks all engines about a message that waits, at once, each of them one time.
 * @returns undefined where the message is no more
 */
export async function judgeClaimed(options: PassOptions, app: App, claimed: Claimed): Promise<Judged | undefined> {
  const { context, line } = options
  const stored = (await readMessages(context.database, app.appId, [claimed.message])).get(claimed.message)
  if (stored === undefined || stored.deletedAt !== null) return undefined
  // Of an edit that waits they are to see what the message will say.
  const message = claimed.waiting === null ? stored : { ...stored, data: claimed.waiting.data }
  const settings = await context.engineSettings.of(app.appId)
  const { questions } = claimed
  const requests = createRequests(options, { app, message, settings, questions })

  const began = performance.now()
  const asking = new Map<string, Promise<Said>>()
  const ask = async (question: StoredQuestion): Promise<Said> => {
    const request = await requests.make(question)
    return 'category' in request ? { failure: request } : line.ask(request, context.span)
  }
  const asked = questions.map(async (question): Promise<AskedQuestion> => {
    const key = keyOf(question)
    const said = asking.get(key) ?? ask(question)
    asking.set(key, said)
    return { question, said: await said, onError: settings[engineOf(question)].onError }
  })
  const ruling = rule(await Promise.all(asked))
  return { message, ruling, took: Math.round(1_000 * (performance.now() - began)) }
}
