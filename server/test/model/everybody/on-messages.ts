import { type Entry, type Group, isGroup, type Person, peerOf, type Talk, talkOf } from './model.ts'
import { mended } from './on-reviews.ts'
import { receiver, type Stage, wrong } from './stage.ts'

/** Somebody sends. */
export async function say(stage: Stage, by: Person, to: Person | Group, what: 'text' | 'image' | 'bad') {
  if (by === to) return
  const talk = talkOf(by, to)
  const words = stage.words(what === 'bad')
  const type = what === 'image' ? what : 'text'
  const data = type === 'text' ? { text: words } : { text: words, url: 'https://example.com/a.png' }
  const answer = await stage.service.post('/messages', { ...receiver(to), type, data }, { as: by })
  const may = stage.model.maySay(talk, by)
  if (may) stage.sent(answer, talk, by, type, words)
  return wrong(answer, may ? 'must' : 'must not')
}

/** Somebody does something with a message. */
export async function onMessage(
  stage: Stage,
  what: 'reply' | 'reply bad' | 'edit' | 'delete' | 'react' | 'save' | 'pin' | 'unpin' | 'unread',
  by: Person,
  entry: Entry,
): Promise<string | undefined> {
  const { model, service } = stage
  const path = `/messages/${entry.id}`
  const as = { as: by }
  const opens = model.opens(entry, by)
  // Of what is held there is nothing but reading, editing and deleting, for whoever wrote it.
  const acts = opens && !entry.isHeld
  const maySay = acts && model.maySay(entry.talk, by)
  switch (what) {
    case 'reply':
    case 'reply bad': {
      const words = stage.words(what === 'reply bad')
      const answer = await service.post(`${path}/thread`, { data: { text: words } }, as)
      const mayReach = isGroup(entry.talk) || !model.isAway(peerOf(entry.talk, by))
      const may = maySay && mayReach && entry.parent === undefined
      // Threads have a permission of their own.
      const isMuted = acts && isGroup(entry.talk) && entry.parent === undefined
      if (may || isMuted) stage.sent(answer, entry.talk, by, 'text', words, entry.id)
      return wrong(answer, may && !entry.isDeleted ? 'must' : isMuted || may ? 'may' : 'must not')
    }
    case 'edit': {
      const words = stage.words()
      const data = entry.kind === 'text' ? { text: words } : { text: words, url: 'https://example.com/b.png' }
      const answer = await service.put(path, { data }, as)
      const isTheirs = opens && entry.by === by && !entry.isDeleted
      const mayWrite = model.maySay(entry.talk, by) || (entry.parent !== undefined && isGroup(entry.talk))
      const may = isTheirs && mayWrite
      if (may && answer.status === 200) {
        entry.words = words
        if (entry.isHeld) {
          stage.heard.tellWriter(model, entry, Number(answer.body.data.id))
          return mended(stage, entry)
        }
        stage.changed(answer, entry, by)
        stage.told.push(`message_edited ${entry.id}`)
      }
      return wrong(answer, may ? 'must' : 'must not')
    }
    case 'delete': {
      const answer = await service.delete(path, undefined, as)
      const isTheirs = entry.by === by || model.moderates(entry.talk, by)
      const may = opens && isTheirs
      if (may && !entry.isDeleted && answer.status === 200) {
        model.delete(entry)
        if (entry.isHeld) stage.heard.tellWriter(model, entry, -entry.id)
        else {
          stage.changed(answer, entry, by)
          stage.told.push(`message_deleted ${entry.id}`)
        }
      }
      return wrong(answer, may ? (entry.isDeleted ? 'may' : 'must') : 'must not')
    }
    case 'react': {
      const answer = await service.post(`${path}/reactions/x`, undefined, as)
      const may = acts && !entry.isDeleted && (isGroup(entry.talk) || maySay)
      const isNew = !model.reactions.has(`${entry.id} ${by}`)
      if (may && isNew && answer.status === 200) {
        model.reactions.add(`${entry.id} ${by}`)
        stage.told.push(`message_reaction_added ${entry.id} ${by}`)
      }
      return wrong(answer, may ? (isNew ? 'must' : 'may') : 'must not')
    }
    case 'save': {
      const answer = await service.post(`${path}/save`, undefined, as)
      const may = acts && !entry.isDeleted
      if (may && answer.status === 200) model.saves.add(`${entry.id} ${by}`)
      return wrong(answer, may ? 'must' : 'must not')
    }
    case 'pin': {
      const answer = await service.post(`${path}/pin`, undefined, as)
      const may = maySay && !entry.isDeleted
      if (may && answer.status === 200) model.pins.add(entry.id)
      return wrong(answer, may ? 'must' : 'must not')
    }
    case 'unpin': {
      const answer = await service.delete(`${path}/pin`, undefined, as)
      if (answer.status === 200 && acts) model.pins.delete(entry.id)
      return wrong(answer, maySay ? 'must' : acts ? 'may' : 'must not')
    }
    case 'unread': {
      const where = isGroup(entry.talk) ? `/groups/${entry.talk}` : `/users/${otherOf(entry.talk, by)}`
      if (!model.takesPart(entry.talk, by) && !isGroup(entry.talk)) return
      const answer = await service.delete(`${where}/conversation/read`, { messageId: entry.id }, as)
      if (acts && answer.status === 200) model.unreadFrom(entry.talk, by, entry)
      return wrong(answer, acts ? 'must' : 'must not')
    }
  }
}

/** The app itself edits a message: it asks nobody. */
export async function correct(stage: Stage, entry: Entry): Promise<string | undefined> {
  const words = stage.words()
  const data = entry.kind === 'text' ? { text: words } : { text: words, url: 'https://example.com/c.png' }
  const answer = await stage.service.put(`/messages/${entry.id}`, { data })
  if (entry.isHeld) return wrong(answer, 'must not')
  if (!entry.isDeleted && answer.status === 200) {
    entry.words = words
    stage.changed(answer, entry, 'app_system')
    stage.told.push(`message_edited ${entry.id}`)
  }
  return wrong(answer, entry.isDeleted ? 'must not' : 'must')
}

/** The app removes a message for good. */
export async function remove(stage: Stage, entry: Entry) {
  const answer = await stage.service.delete(`/messages/${entry.id}`, { permanent: true })
  if (answer.status !== 200) return wrong(answer, entry.isHeld ? 'must not' : 'must')
  // Its replies go with it, and what tells of their edits: each is told of, to whoever keeps copies.
  const replies = stage.model.entries.filter(({ parent, isHeld }) => parent === entry.id && !isHeld)
  for (const { id } of [entry, ...replies]) stage.told.push(`message_deleted ${id}`)
  stage.model.remove(entry)
  stage.changed(answer, entry, 'app_system')
  return
}

/** The app imports a message. */
export async function importOne(stage: Stage, by: Person, to: Person | Group, when: 'long ago' | 'soon') {
  if (by === to) return
  const talk = talkOf(by, to)
  const words = stage.words()
  // Old: before anything there is. Soon: after it, as a clock that is ahead of this one may say.
  const sentAt = when === 'long ago' ? 1_600_000_000 + stage.count : Math.floor(Date.now() / 1000) + 50
  const muid = `m${stage.count}`
  const record = { muid, sender: by, ...receiver(to), data: { text: words }, sentAt }
  const answer = await stage.service.post('/data_import/messages', { messages: [record] })
  const outcome = answer.body.data?.[muid]
  if (outcome?.success !== true) return `import: ${JSON.stringify(answer.body)}`
  const id = Number(outcome.data.id)
  stage.model.clearOld(stage.model.add({ id, sentAt, talk, by, kind: 'text', words, isImported: true }))
  return
}

function otherOf(talk: Talk, by: Person): string {
  return talk.split(' ').includes(by) ? peerOf(talk, by) : by
}
