import type { ApiError } from '@parley/contract'
import type { Content } from '../../areas/messages/content.ts'
import type { Span } from '../../tracing/tracing.ts'
import type { App } from '../identity.ts'
import type { ConversationKind } from '../kind.ts'
import type { Outcome } from '../moderation/model.ts'

/** A message that somebody wants to send, or to edit, as its judges see it. */
export interface Draft {
  readonly app: App
  readonly sender: string
  /** The app itself sends or edits it, on nobody's behalf. */
  readonly byApp: boolean
  readonly kind: ConversationKind
  readonly receiver: string
  readonly muid: string | null
  readonly parentId: number | null
  readonly quotedId: number | null
  readonly tags: readonly string[] | null
  /** The id of the message that is edited; null where it is sent. */
  readonly edits: number | null
  /** What it says; of an edit, what the whole message will say. Earlier judges may have changed it. */
  readonly content: Content
  /** The work that it is sent by, where that is traced. */
  readonly span?: Span | undefined
}

/** What a judge says: nothing against it, other `data`, what the rules of moderation find in it, or no. */
export type Verdict =
  | { readonly is: 'pass' }
  | { readonly is: 'changed'; readonly data: Record<string, unknown> }
  | { readonly is: 'moderated'; readonly outcome: Outcome }
  | { readonly is: 'refused'; readonly error: ApiError }

export const pass: Verdict = { is: 'pass' }

/**
 * Says whether a message may be stored, before it is. A judge may ask somebody outside and take its time: it holds no lock, no
 * transaction and no place in a batch meanwhile, and delays nothing but the messages that it judges.
 */
export interface Judge {
  /** It asks nobody outside, so it may as well be asked about what the rules of writing refuse afterwards. */
  readonly isLocal?: true
  /** Has it anything to say about messages of this app? From memory nearly always: every send asks. */
  concerns(appId: number): Promise<boolean>
  judge(draft: Draft): Promise<Verdict>
}

/** The judges that have anything to say about messages of an app; mostly none. */
async function concernedBy(judges: readonly Judge[], appId: number): Promise<Judge[]> {
  const concerned: Judge[] = []
  for (const judge of judges) if (await judge.concerns(appId)) concerned.push(judge)
  return concerned
}

/** Whether anybody judges messages of an app. */
export async function isJudged(judges: readonly Judge[], { appId }: App): Promise<boolean> {
  return (await concernedBy(judges, appId)).length > 0
}

/** Whether somebody outside judges messages of an app. */
export async function isJudgedOutside(judges: readonly Judge[], { appId }: App): Promise<boolean> {
  return (await concernedBy(judges, appId)).some(asksOutside)
}

function asksOutside({ isLocal }: Judge): boolean {
  return isLocal !== true
}

/** What judges leave of a message. */
export interface Judged {
  /** What is to be stored. */
  readonly content: Content
  /** What the rules of moderation found in it; undefined where they were not asked, so it is not moderated. */
  readonly outcome: Outcome | undefined
}

/**
 * Has the judges that a message concerns judge it, one after the other, each what the ones before it left.
 * @param describe the draft that says this
 * @param requireMayWrite asks the rules of writing, so that nobody is asked about what is refused anyway. They are to be
 *   asked again, under the lock, once the judges have spoken.
 * @throws what a judge refuses it with
 */
export async function passJudges(
  judges: readonly Judge[],
  { appId }: App,
  content: Content,
  describe: (content: Content) => Draft,
  requireMayWrite: () => Promise<void>,
): Promise<Judged> {
  const concerned = await concernedBy(judges, appId)
  if (concerned.length === 0) return { content, outcome: undefined }

  if (concerned.some(asksOutside)) await requireMayWrite()
  let judged: Judged = { content, outcome: undefined }
  for (const judge of concerned) {
    const verdict = await judge.judge(describe(judged.content))
    if (verdict.is === 'refused') throw verdict.error
    if (verdict.is === 'changed') judged = { ...judged, content: withData(judged.content, verdict.data) }
    if (verdict.is === 'moderated') judged = { content: judged.content, outcome: verdict.outcome }
  }
  return judged
}

function withData(content: Content, data: Record<string, unknown>): Content {
  return { ...content, data, json: JSON.stringify(data) }
}
