import fc from 'fast-check'
import { blockMessage, releaseMessage, restoreMessage, settleEdit } from '../../src/areas/messages/index.ts'
import { refusal } from '../support/chat.ts'
import type { Answer, World } from '../support/world.ts'
import { type ChatModel, type Entry, owner, type Person, people, placeOf, type Talk } from './chat-model.ts'

/** One thing that somebody does. Numbers pick an entry of a conversation, modulo its length. */
export type Step =
  | { do: 'say'; by: Person; to: Person; words: Words }
  | { do: 'say in group'; by: Person; words: Words }
  | { do: 'mark'; receipt: 'delivered' | 'read'; by: Person; with: Person | 'team'; upTo: number | null }
  | { do: 'mark unread'; by: Person; with: Person | 'team'; from: number | null }
  | { do: 'reset'; by: Person; with: Person | 'team' }
  | { do: 'edit' | 'delete'; by: Person; with: Person | 'team'; which: number; words: Words }
  | { do: Review; by: Person; with: Person | 'team'; which: number }
  | { do: 'block' | 'unblock'; by: Person; whom: Person }
  | { do: 'join' | 'leave'; by: Person }
  | { do: 'kick' | 'ban' | 'unban'; whom: Person }
  | { do: 'sleep' | 'wake'; whom: Person }
  | { do: 'let participants send'; may: boolean }

/** What rules say nothing against, what they stop, what they let wait for an engine. */
type Words = 'x' | 'bad' | 'wait'
/** What reviewers and engines do with the held messages, and with those that are seen. */
const reviews = ['release', 'release at its place', 'stop', 'restore', 'approve the edit', 'refuse the edit'] as const
type Review = (typeof reviews)[number]

const words = fc.oneof(
  { weight: 4, arbitrary: fc.constant('x' as const) },
  { weight: 1, arbitrary: fc.constantFrom('bad' as const, 'wait' as const) },
)
const person = fc.constantFrom(...people)
const guest = fc.constantFrom(...people.filter((name) => name !== owner))
const place = fc.oneof({ weight: 3, arbitrary: person }, { weight: 2, arbitrary: fc.constant('team' as const) })
const pick = fc.nat(50)
const maybePick = fc.option(pick, { nil: null })

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('say' as const), by: person, to: person, words }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('say in group' as const), by: person, words }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('mark' as const),
      receipt: fc.constantFrom('delivered' as const, 'read' as const),
      by: person,
      with: place,
      upTo: maybePick,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('mark unread' as const), by: person, with: place, from: maybePick }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), by: person, with: place }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('edit' as const, 'delete' as const),
      by: person,
      with: place,
      which: pick,
      words,
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom(...reviews), by: person, with: place, which: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('block' as const, 'unblock' as const), by: person, whom: person }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('join' as const, 'leave' as const), by: guest }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('kick' as const, 'ban' as const, 'unban' as const), whom: guest }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('sleep' as const, 'wake' as const), whom: guest }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('let participants send' as const), may: fc.boolean() }) },
)

/** Does a step in the service and in the model. @returns what the service answered and what the model expected */
export async function take(
  step: Step,
  world: World,
  model: ChatModel,
): Promise<{ answered: string; expected: string }> {
  switch (step.do) {
    case 'say':
      return say(step, world, model)
    case 'say in group':
      return sayInGroup(step, world, model)
    case 'mark':
    case 'mark unread':
      return mark(step, world, model)
    case 'reset':
      return reset(step.by, step.with, world, model)
    case 'edit':
    case 'delete':
      return change(step, world, model)
    case 'release':
    case 'release at its place':
    case 'stop':
    case 'restore':
    case 'approve the edit':
    case 'refuse the edit':
      return review(step, world, model)
    case 'block':
    case 'unblock':
      return block(step.do, step.by, step.whom, world, model)
    case 'join':
    case 'leave':
      return joinOrLeave(step.do, step.by, world, model)
    case 'kick':
    case 'ban':
    case 'unban':
      return govern(step.do, step.whom, world, model)
    case 'sleep':
    case 'wake':
      return sleepOrWake(step.do, step.whom, world, model)
    case 'let participants send': {
      const value = step.may ? 'allow' : 'deny'
      const answer = await world.put('/groups/team/scopes/participant/permissions', {
        permissions: { sendMessage: value },
      })
      model.participantsMaySend = step.may
      return { answered: refusal(answer), expected: fine }
    }
  }
}

const fine = '200 undefined'
const unknownMessage = '404 ERR_MESSAGE_ID_NOT_FOUND'
const unknownUser = '404 ERR_UID_NOT_FOUND'
const notAccessible = '403 ERR_CONVERSATION_NOT_ACCESSIBLE'

async function say({ by, to, words }: Extract<Step, { do: 'say' }>, world: World, model: ChatModel) {
  const body = { receiver: to, receiverType: 'user', data: { text: words } }
  const answer = await world.post('/messages', body, { as: by })
  const expected = model.asleep.has(by) || model.asleep.has(to) ? unknownUser : expectWriting(by, to, model)
  if (expected === fine) said(model, talkBetween(by, to), by, answer, words)
  return { answered: refusal(answer), expected }
}

async function sayInGroup({ by, words }: Extract<Step, { do: 'say in group' }>, world: World, model: ChatModel) {
  const answer = await world.post(
    '/messages',
    { receiver: 'team', receiverType: 'group', data: { text: words } },
    { as: by },
  )
  const expected = model.asleep.has(by)
    ? unknownUser
    : !model.members.has(by)
      ? model.banned.has(by)
        ? '403 ERR_BANNED_GROUPMEMBER'
        : '403 ERR_GROUP_NOT_JOINED'
      : expectWriting(by, 'team', model)
  if (expected === fine) said(model, 'team', by, answer, words)
  return { answered: refusal(answer), expected }
}

function said(model: ChatModel, talk: Talk, by: Person, answer: Answer, words: Words): void {
  const { id, at } = placed(answer)
  if (words === 'x') model.sent(talk, by, id, at)
  else model.kept(talk, by, id, at, words)
}

async function mark(step: Extract<Step, { do: 'mark' | 'mark unread' }>, world: World, model: ChatModel) {
  const { by } = step
  const talk = step.with === 'team' ? 'team' : talkBetween(by, step.with)
  const entries = model.talk(talk).entries
  const chosen = step.do === 'mark' ? step.upTo : step.from
  const index = chosen === null || entries.length === 0 ? undefined : chosen % entries.length
  const body = index === undefined ? {} : { messageId: entries[index]?.id }
  const path = step.with === 'team' ? '/groups/team' : `/users/${step.with}`
  const answer =
    step.do === 'mark'
      ? await world.post(`${path}/conversation/${step.receipt}`, body, { as: by })
      : await world.delete(`${path}/conversation/read`, body, { as: by })
  const access = expectAccess(talk, by, model)
  const named = index === undefined ? undefined : entries[index]
  const isHidden = access === fine && named !== undefined && (named.held || model.isCleared(talk, by, named))
  const expected = isHidden ? unknownMessage : access
  if (expected === fine && step.do === 'mark') {
    model.mark(talk, by, step.receipt, named?.at ?? model.talk(talk).end)
  }
  if (expected === fine && step.do === 'mark unread') {
    const newest = entries.findLast((entry) => {
      return (
        entry.kind === 'message' &&
        entry.counts &&
        !entry.held &&
        !entry.deleted &&
        entry.by !== by &&
        !model.isCleared(talk, by, entry)
      )
    })
    const from = named ?? newest
    if (from !== undefined) model.markUnread(talk, by, from.at)
  }
  return { answered: refusal(answer), expected }
}

async function reset(by: Person, other: Person | 'team', world: World, model: ChatModel) {
  const talk = other === 'team' ? 'team' : talkBetween(by, other)
  const path = other === 'team' ? '/groups/team/conversation' : `/users/${other}/conversation`
  const answer = await world.delete(path, {}, { as: by })
  const expected = expectAccess(talk, by, model)
  if (expected === fine) model.reset(talk, by)
  return { answered: refusal(answer), expected }
}

async function change(step: Extract<Step, { do: 'edit' | 'delete' }>, world: World, model: ChatModel) {
  const { by } = step
  const talk = step.with === 'team' ? 'team' : talkBetween(by, step.with)
  const messages = model.talk(talk).entries.filter((entry) => entry.kind === 'message')
  const entry = messages[step.which % Math.max(1, messages.length)]
  if (entry === undefined) return { answered: fine, expected: fine }
  const answer =
    step.do === 'edit'
      ? await world.put(`/messages/${entry.id}`, { data: { text: step.words } }, { as: by })
      : await world.delete(`/messages/${entry.id}`, {}, { as: by })
  const expected = expectChange(step, entry, talk, by, model)
  if (expected === fine && step.do === 'edit') await edited(world, model, talk, entry, answer, step)
  if (expected === fine && step.do === 'delete' && !entry.deleted) {
    entry.deleted = true
    entry.waits = false
    if (!entry.held) model.append(talk, { ...placed(answer), by, kind: 'changed' })
  }
  return { answered: refusal(answer), expected }
}

/** What becomes of a message that its sender edits: of one that others see the old text stays while the new one waits. */
async function edited(
  world: World,
  model: ChatModel,
  talk: Talk,
  entry: Entry,
  answer: Answer,
  { words, with: other }: Extract<Step, { do: 'edit' | 'delete' }>,
): Promise<void> {
  const by = entry.by as Person
  if (!entry.held) {
    entry.waits = words === 'wait'
    if (words === 'x') model.append(talk, { ...placed(answer), by, kind: 'changed' })
    return
  }
  entry.isBad = false
  entry.stopped = false
  if (words !== 'x' || entry.upToPeople) return
  if (expectSending(by, other, model) === fine) {
    model.released(talk, entry, placed(await world.get(`/messages/${entry.id}`)).at)
  } else entry.upToPeople = true
}

/** Somebody reviews, or an engine has answered. */
async function review(step: Extract<Step, { do: Review }>, world: World, model: ChatModel) {
  const { by } = step
  const talk = step.with === 'team' ? 'team' : talkBetween(by, step.with)
  const messages = model.talk(talk).entries.filter((entry) => entry.kind === 'message')
  const entry = messages[step.which % Math.max(1, messages.length)]
  if (entry === undefined) return { answered: 'nothing', expected: 'nothing' }
  const answered = await decide(step.do, entry, world)
  const expected = expectReview(step.do, entry, otherIn(talk, entry), model)
  if (expected !== 'done') return { answered, expected }
  if (step.do === 'stop') model.blocked(entry)
  if (step.do === 'restore' || (step.do.startsWith('release') && entry.wasSeen))
    model.reappeared(talk, entry, entry.counts)
  else if (step.do === 'release') model.released(talk, entry, placed(await world.get(`/messages/${entry.id}`)).at)
  else if (step.do === 'release at its place') model.reappeared(talk, entry, false)
  if (step.do === 'approve the edit' || step.do === 'refuse the edit') entry.waits = false
  if (step.do === 'approve the edit') await recordEdit(world, model, talk, entry)
  return { answered, expected }
}

async function decide(what: Review, { id }: Entry, { context, app }: World): Promise<string> {
  const about = [context, app, Number(id)] as const
  const byReviewer = { by: { reviewer: 'rita' } } as const
  const done =
    what === 'stop'
      ? await blockMessage(...about, byReviewer)
      : what === 'restore'
        ? await restoreMessage(...about, byReviewer)
        : what === 'approve the edit'
          ? await settleEdit(...about, 'approved', { by: 'engine' })
          : what === 'refuse the edit'
            ? await settleEdit(...about, 'disapproved', { by: 'engine' })
            : await releaseMessage(...about, { ...byReviewer, asNew: what === 'release' })
  return 'refused' in done ? done.because : 'done'
}

function expectReview(what: Review, entry: Entry, other: Person | 'team', model: ChatModel): string {
  if (what === 'approve the edit' || what === 'refuse the edit') {
    if (!entry.waits) return 'late'
    if (what === 'refuse the edit') return 'done'
    const by = entry.by as Person
    const may = !model.asleep.has(by) && model.sees(talkOf(by, other), by) && expectWriting(by, other, model) === fine
    if (!may) entry.waits = false
    return may ? 'done' : 'forbidden'
  }
  if (entry.deleted) return 'deleted'
  if (what === 'stop') return entry.stopped || (entry.held && entry.isBad) ? 'decided' : 'done'
  if (!entry.held) return 'decided'
  if (what === 'restore') return entry.wasSeen ? 'done' : 'decided'
  return entry.wasSeen || expectSending(entry.by as Person, other, model) === fine ? 'done' : 'forbidden'
}

/** What somebody meets who sends now. */
function expectSending(by: Person, other: Person | 'team', model: ChatModel): string {
  if (model.asleep.has(by) || (other !== 'team' && model.asleep.has(other))) return unknownUser
  if (other === 'team' && !model.members.has(by)) return '403 ERR_GROUP_NOT_JOINED'
  return expectWriting(by, other, model)
}

/** The edit that was approved left an action message, the newest of the conversation. */
async function recordEdit(world: World, model: ChatModel, talk: Talk, { by }: Entry): Promise<void> {
  const place = talk === 'team' ? 'conversationId=group_team' : `conversationId=${talk.replace(' ', '_user_')}`
  const newest = await world.get(`/messages?${place}&limit=1&affix=prepend`)
  model.append(talk, { ...placedAt(newest.body.data[0]), by, kind: 'changed' })
}

/** Whom a message is for. */
function otherIn(talk: Talk, { by }: Entry): Person | 'team' {
  if (talk === 'team') return talk
  const [a, b] = talk.split(' ') as [Person, Person]
  return a === by ? b : a
}

function talkOf(by: Person, other: Person | 'team'): Talk {
  return other === 'team' ? other : talkBetween(by, other)
}

function expectChange(
  { do: does, with: other, words }: Extract<Step, { do: 'edit' | 'delete' }>,
  entry: Entry,
  talk: Talk,
  by: Person,
  model: ChatModel,
): string {
  if (model.asleep.has(by)) return unknownUser
  if (!model.sees(talk, by) || model.isCleared(talk, by, entry)) return unknownMessage
  if (entry.held && entry.by !== by) return unknownMessage
  const moderates = does === 'delete' && talk === 'team' && model.members.get(by) === 'admin'
  if (entry.by !== by && !moderates) return '403 ERR_MESSAGE_NOT_A_SENDER'
  if (does === 'delete') return fine
  if (entry.deleted) return '403 ERR_MESSAGE_ACTION_NOT_ALLOWED'
  const expected = expectWriting(by, other, model)
  return expected === fine && words === 'bad' ? '403 ERR_MESSAGE_ACTION_NOT_ALLOWED' : expected
}

/** What somebody who takes part meets when they send to somebody who is there, or edit what they sent. */
function expectWriting(by: Person, other: Person | 'team', model: ChatModel): string {
  if (other === 'team') {
    const isDenied = !model.participantsMaySend && model.members.get(by) === 'participant'
    return isDenied ? '403 ERR_PERMISSION_DENIED' : fine
  }
  if (by !== other && model.blocks.has(`${by} ${other}`)) return '403 ERR_BLOCKED_RECEIVER'
  return by !== other && model.blocks.has(`${other} ${by}`) ? '403 ERR_BLOCKED_SENDER' : fine
}

async function block(does: 'block' | 'unblock', by: Person, whom: Person, world: World, model: ChatModel) {
  const body = { blockedUids: [whom] }
  const path = `/users/${by}/blockedusers`
  const answer = does === 'block' ? await world.post(path, body) : await world.delete(path, body)
  if (model.asleep.has(by)) return { answered: refusal(answer), expected: unknownUser }
  const outcome = answer.body.data?.[whom]
  if (does === 'unblock') {
    model.blocks.delete(`${by} ${whom}`)
    return { answered: String(outcome?.success), expected: 'true' }
  }
  const expected = by === whom ? 'ERR_CANNOT_BLOCK_SELF' : model.asleep.has(whom) ? 'ERR_UID_NOT_FOUND' : 'true'
  if (expected === 'true') model.blocks.add(`${by} ${whom}`)
  return { answered: outcome?.error?.code ?? String(outcome?.success), expected }
}

async function joinOrLeave(does: 'join' | 'leave', by: Person, world: World, model: ChatModel) {
  const answer =
    does === 'join'
      ? await world.post('/groups/team/members', {}, { as: by })
      : await world.delete('/groups/team/members', {}, { as: by })
  const isMember = model.members.has(by)
  const expected = model.asleep.has(by)
    ? unknownUser
    : does === 'join'
      ? isMember
        ? '409 ERR_ALREADY_JOINED'
        : model.banned.has(by)
          ? '403 ERR_BANNED_GROUPMEMBER'
          : fine
      : isMember
        ? fine
        : model.banned.has(by)
          ? '403 ERR_BANNED_GROUPMEMBER'
          : '403 ERR_GROUP_NOT_JOINED'
  if (expected === fine)
    await recordEvent(world, model, (id, at) =>
      does === 'join' ? model.joined(by, id, at, by) : model.gone(by, id, at, by),
    )
  return { answered: refusal(answer), expected }
}

async function govern(does: 'kick' | 'ban' | 'unban', whom: Person, world: World, model: ChatModel) {
  const path = does === 'kick' ? `/groups/team/members/${whom}` : `/groups/team/bannedusers/${whom}`
  const answer = await world.call(does === 'ban' ? 'POST' : 'DELETE', path, undefined, { as: owner })
  const isMember = model.members.has(whom)
  const isBanned = model.banned.has(whom)
  const expected =
    does === 'ban' && model.asleep.has(whom)
      ? unknownUser
      : does === 'kick'
        ? isMember
          ? fine
          : '400 ERR_NOT_A_MEMBER'
        : does === 'ban'
          ? isBanned
            ? '409 ERR_ALREADY_BANNED'
            : fine
          : isBanned
            ? fine
            : '400 ERR_NOT_A_BANNED_USER'
  if (expected === fine) {
    if (does === 'ban') model.banned.add(whom)
    if (does === 'unban') model.banned.delete(whom)
    await recordEvent(world, model, (id, at) => {
      if (does === 'unban' || !isMember) model.append('team', { id, at, by: owner, kind: 'groupMember' })
      else model.gone(whom, id, at, owner)
    })
  }
  return { answered: refusal(answer), expected }
}

async function sleepOrWake(does: 'sleep' | 'wake', whom: Person, world: World, model: ChatModel) {
  const answer =
    does === 'sleep'
      ? await world.delete('/users', { uidsToDeactivate: [whom] })
      : await world.put('/users', { uidsToActivate: [whom] })
  if (does === 'sleep') model.asleep.add(whom)
  else model.asleep.delete(whom)
  model.settle()
  return { answered: refusal(answer), expected: fine }
}

/** A group event left an action message: its id is the newest of the group's history. */
async function recordEvent(world: World, model: ChatModel, record: (id: string, at: number) => void): Promise<void> {
  const newest = await world.get('/groups/team/messages?limit=1&affix=prepend')
  const { id, at } = placedAt(newest.body.data[0])
  if (model.talk('team').entries.some((entry) => entry.id === id)) throw new Error('the event left no action message')
  record(id, at)
}

function expectAccess(talk: Talk, by: Person, model: ChatModel): string {
  if (model.asleep.has(by)) return unknownUser
  if (!model.exists(talk)) return notAccessible
  return model.sees(talk, by) ? fine : notAccessible
}

function talkBetween(a: Person, b: Person): Talk {
  return a <= b ? `${a} ${b}` : `${b} ${a}`
}

/** The id and the place of a message that was answered. */
function placed(answer: Answer): { id: string; at: number } {
  return placedAt(answer.body.data)
}

function placedAt(message: { id: string; sentAt: number }): { id: string; at: number } {
  return { id: message.id, at: placeOf(message) }
}
