import type { Context } from '../../context.ts'
import type { Authors } from '../authors.ts'
import type { Dispatcher } from '../dispatch.ts'
import type { UserSummaries } from '../user-summaries.ts'

/** What every event is broadcast with. */
export interface EventParts extends Pick<Dispatcher, 'dispatch' | 'dispatchLater'> {
  readonly context: Context
  readonly summaries: UserSummaries
  readonly authors: Authors
}
