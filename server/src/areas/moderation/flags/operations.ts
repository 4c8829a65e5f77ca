import { flagMessage } from '@parley/contract'
import { serve } from '../../../call.ts'
import { readMessageId } from '../../../chat/messages/read.ts'
import { flag } from './flag.ts'

export const operations = [
  serve(flagMessage, async ({ app, actor, params, body }, context) => {
    const id = readMessageId(params.id)
    await flag(context, app, actor.uid, id, body)
    return { success: true, message: `The message ${id} is flagged.` }
  }),
]
