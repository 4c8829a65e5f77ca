import { sampleEvent, type Target } from '../../areas/webhooks/index.ts'
import { traceOf } from '../../chat/events/stored.ts'
import type { App } from '../../chat/identity.ts'
import { type EventRow, eventColumns } from '../../events/rows.ts'
import { type ShownEvent, showEvents } from '../../events/show.ts'
import type { FileLinks } from '../../media/links.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** A delivery whose body is asked for. */
export interface Rendered {
  readonly id: number
  readonly sample: boolean
  /** Epoch seconds of its event; a sample that has none happens now. */
  readonly createdAt?: number
}

/** What a message said when a body was made of it. */
export interface SentContent {
  readonly message: number
  /** As `contentSql` has it. */
  readonly content: number
}

export interface Body {
  readonly text: string
  /** Absent where the event is about no message, or that was removed for good. */
  readonly sent?: SentContent | undefined
  /** Leads to the request that it comes from, where that is traced. */
  readonly trace?: string | undefined
}

/** Makes the bodies of deliveries, again for each attempt, so that they say what is there now. */
export interface Bodies {
  /** @returns by id of the delivery; missing where its event is gone or does not fit the webhook's envelope */
  render(target: Target, deliveries: readonly Rendered[]): Promise<Map<number, Body>>
}

/** Tells, of the table `messages m`, whether it still says the same. */
export const contentSql = 'hashtext(concat(m.edited_at, m.deleted_at, m.tags, m.data))'

/** The content is read before the message is shown: where it changes in between, another one was sent than what is noted here. */
const select = statement(`
  select ${eventColumns}, ${contentSql} as content
  from events e
  left join messages m on m.app_id = e.app_id and m.id = e.message and not m.purged
  where e.app_id = $1
  and e.id = any($2::bigint[])`)

export function createBodies(database: Database, fileLinks: FileLinks): Bodies {
  return {
    async render(target, deliveries) {
      const bodies = new Map<number, Body>()
      const ids = deliveries.filter(({ sample }) => !sample).map(({ id }) => id)
      if (ids.length > 0) {
        const rows = await database.query<EventRow & { content: number | null }>(select, [target.app.appId, ids])
        const shown = await showEvents({ database }, target.app, rows, target.version)
        for (const { id, data, message, content } of rows) {
          const event = shown.get(id)
          if (event === undefined) continue
          const text = await fileLinks.inText(target.app, JSON.stringify(envelope(target, event)))
          const sent = message === null || content === null ? undefined : { message, content }
          bodies.set(id, { text, sent, trace: traceOf(data) })
        }
      }
      for (const { id, sample, createdAt = Math.floor(Date.now() / 1000) } of deliveries) {
        if (!sample) continue
        bodies.set(id, { text: JSON.stringify(envelope(target, sampleEvent(target.app, target.version, createdAt))) })
      }
      return bodies
    },
  }
}

/** What is posted: the event in its envelope; the older one says of receipts and presence where they come from. */
export function envelope(
  { app, id }: { readonly app: App; readonly id: string },
  { trigger, data, platform }: ShownEvent,
): object {
  const envelope = { trigger, data, appId: app.name, region: app.region, webhook: id }
  return platform === undefined ? envelope : { ...envelope, origin: { platform }, chatAPIVersion: '3.0' }
}
