import * as contract from '@parley/contract'
import { type Route, serve } from '../../../call.ts'
import { readMessageId } from '../../../chat/messages/read.ts'
import { claim, unclaim } from './claims.ts'
import { countQueue } from './counters.ts'
import { type Asked, decide, decideAll, messageOf } from './decide.ts'
import { noDecision } from './errors.ts'
import { listBlocked, listFlagged, listReviewed } from './lists.ts'
import { addNote, listNotes, removeNote } from './notes.ts'
import { readStats } from './stats.ts'

interface DecisionBody {
  readonly status?: 'approved' | 'disapproved' | 'rejected'
  readonly reviewed?: boolean
  readonly asNew?: boolean
  readonly reviewedBy?: string
  readonly override?: boolean
}

/** @param editedAt see `Asked` */
function seenAs(asked: Asked, editedAt: number | null | undefined): Asked {
  return editedAt === undefined ? asked : { ...asked, editedAt }
}

function byOf({ reviewedBy, override = false }: DecisionBody): Asked['by'] {
  return { name: reviewedBy, overrides: override }
}

function ofFlagged(body: DecisionBody): Asked {
  const { status } = body
  if (status === undefined) throw noDecision('status')
  return { list: 'flagged', wanted: status === 'approved' ? status : 'disapproved', asNew: true, by: byOf(body) }
}

/** Two bodies of the public contract: one says status, the other reviewed. */
function ofBlocked(body: DecisionBody): Asked {
  const { status, reviewed, asNew = true } = body
  const seen = reviewed === undefined ? undefined : reviewed ? 'reviewed' : 'unreviewed'
  const wanted = status === undefined ? seen : status === 'approved' ? status : 'rejected'
  if (wanted === undefined) throw noDecision('status or reviewed')
  return { list: 'blocked', wanted, asNew, by: byOf(body) }
}

export const operations: readonly Route[] = [
  serve(contract.listFlaggedMessages, ({ app, query }, { database }) => listFlagged(database, app, query)),
  serve(contract.listBlockedMessages, ({ app, query }, { database }) => listBlocked(database, app, query)),
  serve(contract.listReviewedMessages, ({ app, query }, { database }) => listReviewed(database, app, query)),

  serve(contract.reviewFlaggedMessage, async ({ app, params, body }, context) => {
    const id = readMessageId(params.id)
    const asked = seenAs(ofFlagged(body), body.editedAt)
    await decide(context, app, id, asked)
    return { success: true, message: `${messageOf(id, asked.wanted)} and unflagged` }
  }),

  serve(contract.reviewBlockedMessage, async ({ app, params, body }, context) => {
    const id = readMessageId(params.id)
    const asked = seenAs(ofBlocked(body), body.editedAt)
    await decide(context, app, id, asked)
    return { data: { success: true, message: messageOf(id, asked.wanted) } }
  }),

  serve(contract.reviewFlaggedMessages, async ({ app, body }, context) => {
    return { data: await decideAll(context, app, body.ids.map(Number), ofFlagged(body), body.editedAt) }
  }),

  serve(contract.reviewBlockedMessages, async ({ app, body }, context) => {
    return { data: await decideAll(context, app, body.ids.map(Number), ofBlocked(body), body.editedAt) }
  }),

  serve(contract.claimMessages, async ({ app, body }, context) => {
    return { data: await claim(context, app.appId, body) }
  }),

  serve(contract.releaseClaims, async ({ app, body }, context) => {
    const count = await unclaim(context, app.appId, body)
    return { data: { success: true, message: `${count} messages given back` } }
  }),

  serve(contract.getModerationQueue, async ({ app }, { database }) => {
    return { data: await countQueue(database, app.appId) }
  }),

  serve(contract.getModerationStats, async ({ app, query }, { database }) => {
    return { data: await readStats(database, app.appId, query) }
  }),

  serve(contract.listModerationNotes, async ({ app, params }, context) => {
    return { data: await listNotes(context, app.appId, readMessageId(params.id)) }
  }),

  serve(contract.addModerationNote, async ({ app, params, body }, context) => {
    return { data: await addNote(context, app.appId, readMessageId(params.id), body) }
  }),

  serve(contract.deleteModerationNote, async ({ app, params }, context) => {
    await removeNote(context, app.appId, readMessageId(params.id), params.noteId)
    return { data: { success: true, message: `note ${params.noteId} removed` } }
  }),
]
