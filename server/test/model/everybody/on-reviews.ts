import { type Entry, isGroup, type Person, type World } from './model.ts'
import { type Stage, wrong } from './stage.ts'
import type { Review } from './step.ts'

/** Somebody reports a message to the reviewers. */
export async function flag({ model, service }: Stage, by: Person, entry: Entry): Promise<string | undefined> {
  const answer = await service.post(`/messages/${entry.id}/flagged`, {}, { as: by })
  const may = model.opens(entry, by) && !entry.isHeld && !entry.isDeleted && entry.by !== by
  if (may && answer.status === 200) entry.flags.add(by)
  return wrong(answer, may ? 'must' : 'must not')
}

/** A reviewer decides, as one who may overrule others. */
export async function review(stage: Stage, what: Review, entry: Entry): Promise<string | undefined> {
  if (what === 'release' || what === 'release in place') return release(stage, entry, what === 'release')
  const status = what === 'stop' ? 'disapproved' : 'approved'
  const body = { status, reviewedBy: 'rita', override: true }
  const answer = await stage.service.call('PATCH', `/moderation/flagged-messages/${entry.id}`, body)
  const may = entry.flags.size > 0 && !entry.isDeleted
  // What reviewers took away before is decided about among what is blocked, or here.
  if (entry.isHeld || entry.wasSeen) {
    if (answer.status === 200 && (what === 'stop') !== entry.isHeld) await followed(stage, what, entry)
    return wrong(answer, may ? 'may' : 'must not')
  }
  if (may && answer.status === 200 && what === 'stop') stage.blocked(entry)
  return wrong(answer, may ? 'must' : 'must not')
}

async function followed(stage: Stage, what: Review, entry: Entry): Promise<void> {
  if (what === 'stop') stage.blocked(entry)
  else stage.model.reappear(entry)
}

async function release(stage: Stage, entry: Entry, asNew: boolean): Promise<string | undefined> {
  const { model, service } = stage
  const body = { status: 'approved', reviewedBy: 'rita', override: true, ...(!asNew && { asNew }) }
  const answer = await service.call('PATCH', `/moderation/blocked-messages/${entry.id}`, body)
  // The same decision again changes nothing.
  if (!entry.isHeld || entry.isDeleted) return wrong(answer, entry.wasHeld && !entry.isDeleted ? 'may' : 'must not')
  const may = entry.wasSeen ? 'must' : maySendNow(model, entry)
  if (answer.status === 200 && may !== 'must not') {
    if (asNew && !entry.wasSeen) await stage.released(entry)
    else model.reappear(entry)
  }
  return wrong(answer, may)
}

/** What its writer mends while it is held is sent now, unless a reviewer took it away. */
export async function mended(stage: Stage, entry: Entry): Promise<string | undefined> {
  const { body } = await stage.service.get(`/messages/${entry.id}`)
  const isFree = body.data.data.moderation.status === 'approved'
  const may = entry.wasSeen ? 'must not' : maySendNow(stage.model, entry)
  if (isFree && may !== 'must not') await stage.released(entry)
  if (may !== 'may' && isFree !== (may === 'must')) return `it ${may} be released by an edit`
  return
}

/** Whether the rules of writing let somebody send now what was held. */
function maySendNow(model: World, { by, talk, parent: parentId }: Entry): 'must' | 'may' | 'must not' {
  const writer = by as Person
  if (model.isAway(writer)) return 'must not'
  if (!isGroup(talk) && (talk.split(' ') as Person[]).some((one) => model.isAway(one))) return 'must not'
  if (parentId === undefined) return model.maySay(talk, writer) ? 'must' : 'must not'
  const parent = model.find(parentId)
  if (parent === undefined || parent.isHeld) return 'must not'
  // Threads have a permission of their own.
  if (isGroup(talk)) return model.takesPart(talk, writer) ? 'may' : 'must not'
  return model.maySay(talk, writer) ? 'may' : 'must not'
}
