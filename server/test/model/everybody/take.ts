import { type Group, isGroup, type Person, talkOf } from './model.ts'
import { govern, joinOrLeave, promote } from './on-groups.ts'
import { correct, importOne, onMessage, remove, say } from './on-messages.ts'
import { flag, review } from './on-reviews.ts'
import { type Stage, wrong } from './stage.ts'
import type { Step } from './step.ts'

/** Takes a step in the service and in the model. @returns what went wrong */
export async function take(stage: Stage, step: Step): Promise<string | undefined> {
  stage.count++
  if (namesSomebodyAway(stage, step)) return
  switch (step.do) {
    case 'say':
      return say(stage, step.by, step.to, step.what)
    case 'reply':
    case 'reply bad':
    case 'edit':
    case 'delete':
    case 'react':
    case 'save':
    case 'pin':
    case 'unpin':
    case 'unread': {
      const entry = stage.pick(step.which)
      return entry && onMessage(stage, step.do, step.by, entry)
    }
    case 'flag': {
      const entry = stage.pick(step.which)
      return entry && flag(stage, step.by, entry)
    }
    case 'release':
    case 'release in place':
    case 'stop':
    case 'let be': {
      const entry = stage.pick(step.which)
      return entry && review(stage, step.do, entry)
    }
    case 'remove': {
      const entry = stage.pick(step.which)
      return entry && remove(stage, entry)
    }
    case 'read':
    case 'reset':
      return onTalk(stage, step.do, step.by, step.with)
    case 'block':
    case 'unblock':
      return block(stage, step.do, step.by, step.whom)
    case 'join':
    case 'leave':
      return joinOrLeave(stage, step.do, step.by)
    case 'add':
    case 'kick':
    case 'ban':
    case 'unban':
      return govern(stage, step.do, step.whom, step.group)
    case 'scope':
      return setScope(stage, step.group, step.key, step.is)
    case 'role':
      return setRole(stage, step.key, step.is)
    case 'import':
      return importOne(stage, step.by, step.to, step.when)
    case 'sleep':
    case 'wake':
      return sleepOrWake(stage, step.do, step.whom)
    case 'promote':
      return promote(stage, step.whom, step.group, step.to)
    case 'correct': {
      const entry = stage.pick(step.which)
      return entry && correct(stage, entry)
    }
    case 'erase':
      return erase(stage, step.whom)
  }
}

function namesSomebodyAway(stage: Stage, step: Step): boolean {
  if (step.do === 'wake') return !stage.model.asleep.has(step.whom)
  return Object.values(step).some((value) => stage.model.isAway(value as Person))
}

async function onTalk(stage: Stage, what: 'read' | 'reset', by: Person, other: Person | Group) {
  if (by === other) return
  const talk = talkOf(by, other)
  const path = `${isGroup(talk) ? `/groups/${talk}` : `/users/${other}`}/conversation`
  // A reset reaches up to its own second: what is sent in it afterwards is newer all the same.
  const answer = await (what === 'read'
    ? stage.service.post(`${path}/read`, {}, { as: by })
    : stage.service.delete(path, undefined, { as: by }))
  const may = stage.model.takesPart(talk, by) && stage.model.hasBegun(talk)
  if (may && answer.status === 200) {
    if (what === 'read') stage.model.read(talk, by)
    else stage.model.reset(talk, by, Math.floor(Date.now() / 1000))
  }
  return wrong(answer, may ? 'must' : stage.model.takesPart(talk, by) ? 'may' : 'must not')
}

async function block(stage: Stage, what: 'block' | 'unblock', by: Person, whom: Person) {
  if (by === whom) return
  const path = `/users/${by}/blockedusers`
  const body = { blockedUids: [whom] }
  const answer = await (what === 'block' ? stage.service.post(path, body) : stage.service.delete(path, body))
  const pair = `${by} ${whom}`
  if (what === 'block' && !stage.model.blocks.has(pair)) stage.told.push(`user_blocked ${pair}`)
  if (what === 'unblock' && stage.model.blocks.has(pair)) stage.told.push(`user_unblocked ${pair}`)
  if (what === 'block') stage.model.blocks.add(pair)
  else stage.model.blocks.delete(pair)
  return wrong(answer, 'must')
}

const permissions = {
  send: (is: boolean) => ({ sendMessage: is ? 'allow' : 'deny' }),
  history: (is: boolean) => ({ 'listMessages.historyBeforeJoin': is ? 'allow' : 'deny' }),
  onlyTexts: (is: boolean) => ({ 'listMessages.allowedMessageTypes': is ? ['text'] : [] }),
  listMessages: (is: boolean) => ({ listMessages: is ? 'allow' : 'deny' }),
}

async function setScope(
  { service, model, heard }: Stage,
  group: Group,
  key: 'send' | 'history' | 'onlyTexts',
  is: boolean,
) {
  model.scopes[group][key] = is
  heard.rulesChanged()
  const path = `/groups/${group}/scopes/participant/permissions`
  return wrong(await service.put(path, { permissions: permissions[key](is) }), 'must')
}

async function setRole({ service, model, heard }: Stage, key: 'listMessages' | 'onlyTexts', is: boolean) {
  model.role[key] = is
  heard.rulesChanged()
  return wrong(await service.put('/roles/tested/permissions', { permissions: permissions[key](is) }), 'must')
}

/** The app deactivates somebody, who hears nothing more, or reactivates them. */
async function sleepOrWake({ service, model, heard }: Stage, what: 'sleep' | 'wake', whom: Person) {
  if (what === 'wake') {
    model.asleep.delete(whom)
    return wrong(await service.put('/users', { uidsToActivate: [whom] }), 'must')
  }
  model.asleep.add(whom)
  heard.leave(whom)
  return wrong(await service.delete('/users', { uidsToDeactivate: [whom] }), 'must')
}

/** The app removes somebody for good. */
async function erase({ service, model, heard }: Stage, whom: Person) {
  heard.leave(whom)
  const answer = await service.delete(`/users/${whom}`, { permanent: true })
  model.erase(whom)
  return wrong(answer, 'must')
}
