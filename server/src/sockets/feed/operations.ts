import { listMyEvents } from '@parley/contract'
import { serve } from '../../call.ts'
import { readFeed } from './read.ts'

export const operations = [
  serve(listMyEvents, ({ app, actor, policy, query }, context) =>
    readFeed(context, app, { uid: actor.uid, policy }, query),
  ),
]
