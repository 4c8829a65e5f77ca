import { listEvents } from '@parley/contract'
import { serve } from '../../call.ts'
import { pullEvents } from './pull.ts'

export const operations = [serve(listEvents, ({ app, query }, context) => pullEvents(context, app, query))]
