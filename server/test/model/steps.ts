import fc from 'fast-check'
import { refusal } from '../support/chat.ts'
import type { Answer, World } from '../support/world.ts'
import { type ChatModel, type Entry, owner, type Person, people, type Talk } from './chat-model.ts'

/** One thing that somebody does. Numbers pick an entry of a conversation, modulo its length. */
export type Step =
  | { do: 'say'; by: Person; to: Person }
  | { do: 'say in group'; by: Person }
  | { do: 'mark'; receipt: 'delivered' | 'read'; by: Person; with: Person | 'team'; upTo: number | null }
  | { do: 'mark unread'; by: Person; with: Person | 'team'; from: number | null }
  | { do: 'reset'; by: Person; with: Person | 'team' }
  | { do: 'edit' | 'delete'; by: Person; with: Person | 'team'; which: number }
  | { do: 'block' | 'unblock'; by: Person; whom: Person }
  | { do: 'join' | 'leave'; by: Person }
  | { do: 'kick' | 'ban' | 'unban'; whom: Person }
  | { do: 'sleep' | 'wake'; whom: Person }
  | { do: 'let participants send'; may: boolean }

const person = fc.constantFrom(...people)
const guest = fc.constantFrom(...people.filter((name) => name !== owner))
const place = fc.oneof({ weight: 3, arbitrary: person }, { weight: 2, arbitrary: fc.constant('team' as const) })
const pick = fc.nat(50)
const maybePick = fc.option(pick, { nil: null })

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('say' as const), by: person, to: person }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('say in group' as const), by: person }) },
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
    }),
  },
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
      return say(step.by, step.to, world, model)
    case 'say in group':
      return sayInGroup(step.by, world, model)
    case 'mark':
    case 'mark unread':
      return mark(step, world, model)
    case 'reset':
      return reset(step.by, step.with, world, model)
    case 'edit':
    case 'delete':
      return change(step, world, model)
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

async function say(by: Person, to: Person, world: World, model: ChatModel) {
  const body = { receiver: to, receiverType: 'user', data: { text: 'x' } }
  const answer = await world.post('/messages', body, { as: by })
  const expected = model.asleep.has(by) || model.asleep.has(to) ? unknownUser : expectWriting(by, to, model)
  if (expected === fine) model.sent(talkBetween(by, to), by, idOf(answer))
  return { answered: refusal(answer), expected }
}

async function sayInGroup(by: Person, world: World, model: ChatModel) {
  const answer = await world.post(
    '/messages',
    { receiver: 'team', receiverType: 'group', data: { text: 'x' } },
    { as: by },
  )
  const expected = model.asleep.has(by)
    ? unknownUser
    : !model.members.has(by)
      ? model.banned.has(by)
        ? '403 ERR_BANNED_GROUPMEMBER'
        : '403 ERR_GROUP_NOT_JOINED'
      : expectWriting(by, 'team', model)
  if (expected === fine) model.sent('team', by, idOf(answer))
  return { answered: refusal(answer), expected }
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
  const isHidden = access === fine && index !== undefined && model.isCleared(talk, by, index)
  const expected = isHidden ? unknownMessage : access
  if (expected === fine && step.do === 'mark') {
    model.mark(talk, by, step.receipt, index === undefined ? entries.length : index + 1)
  }
  if (expected === fine && step.do === 'mark unread') {
    const newest = entries.findLastIndex((entry) => entry.kind === 'message' && !entry.deleted && entry.by !== by)
    const from = index ?? newest
    if (from >= 0) model.markUnread(talk, by, from + 1)
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
      ? await world.put(`/messages/${entry.id}`, { data: { text: 'y' } }, { as: by })
      : await world.delete(`/messages/${entry.id}`, {}, { as: by })
  const expected = expectChange(step.do, entry, talk, step.with, by, model)
  if (expected === fine && !(step.do === 'delete' && entry.deleted)) {
    if (step.do === 'delete') entry.deleted = true
    model.append(talk, { id: idOf(answer), by, kind: 'changed' })
  }
  return { answered: refusal(answer), expected }
}

function expectChange(
  does: 'edit' | 'delete',
  entry: Entry,
  talk: Talk,
  other: Person | 'team',
  by: Person,
  model: ChatModel,
): string {
  if (model.asleep.has(by)) return unknownUser
  if (!model.sees(talk, by) || model.isCleared(talk, by, model.talk(talk).entries.indexOf(entry))) return unknownMessage
  const moderates = does === 'delete' && talk === 'team' && model.members.get(by) === 'admin'
  if (entry.by !== by && !moderates) return '403 ERR_MESSAGE_NOT_A_SENDER'
  if (does === 'delete') return fine
  return entry.deleted ? '403 ERR_MESSAGE_ACTION_NOT_ALLOWED' : expectWriting(by, other, model)
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
    await recordEvent(world, model, (id) => (does === 'join' ? model.joined(by, id, by) : model.gone(by, id, by)))
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
    await recordEvent(world, model, (id) => {
      if (does === 'unban' || !isMember) model.append('team', { id, by: owner, kind: 'groupMember' })
      else model.gone(whom, id, owner)
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
async function recordEvent(world: World, model: ChatModel, record: (id: string) => void): Promise<void> {
  const newest = await world.get('/groups/team/messages?limit=1&affix=prepend')
  const id = newest.body.data[0]?.id
  if (model.talk('team').entries.some((entry) => entry.id === id)) throw new Error('the event left no action message')
  record(id)
}

function expectAccess(talk: Talk, by: Person, model: ChatModel): string {
  if (model.asleep.has(by)) return unknownUser
  if (!model.exists(talk)) return notAccessible
  return model.sees(talk, by) ? fine : notAccessible
}

function talkBetween(a: Person, b: Person): Talk {
  return a <= b ? `${a} ${b}` : `${b} ${a}`
}

function idOf(answer: Answer): string {
  return answer.body.data?.id
}
