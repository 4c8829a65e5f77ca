import { expect } from 'vitest'
import type { Answer, World as Service } from '../../support/world.ts'
import type { Heard } from './heard.ts'
import { type Entry, type Group, isGroup, type Person, type Place, type Talk, type World } from './model.ts'

/** Where steps are taken: in the service and in the model at once. It keeps what must be told of them. */
export class Stage {
  /** Steps so far. */
  count = 0
  /** Events, as `trigger what-about`. */
  readonly told: string[] = []
  readonly model: World
  readonly service: Service
  readonly heard: Heard

  constructor(service: Service, model: World, heard: Heard) {
    this.service = service
    this.model = model
    this.heard = heard
  }

  /** A message, not an action, that is still there. */
  pick(which: number): Entry | undefined {
    const messages = this.model.entries.filter(({ kind }) => kind === 'text' || kind === 'image')
    return messages[which % Math.max(1, messages.length)]
  }

  /** @param bad with a word that a rule blocks */
  words(bad = false): string {
    return `w${this.count % 5} n${this.count}${bad ? ` ${badWord}` : ''}`
  }

  /** Sent, and answered: it is told to those who see it. What moderation holds is told to its writer only. */
  sent(answer: Answer, talk: Talk, by: Person, kind: 'text' | 'image', words: string, parent?: number) {
    if (answer.status !== 200) return
    const { id, sentAt, data } = answer.body.data
    const entry = { id: Number(id), sentAt, talk, by, kind, words, ...(parent !== undefined && { parent }) }
    expect(data.moderation?.status).toBe(isBad(words) ? 'disapproved' : 'approved')
    if (isBad(words)) {
      this.heard.tell(this.model, this.model.held(entry))
      return
    }
    this.heard.tell(this.model, this.model.sent(entry))
    this.told.push(`message_sent ${id}`)
  }

  /** A reviewer or its writer has freed what was held, and it has come to the end. */
  async released(entry: Entry): Promise<void> {
    const { body } = await this.service.get(`/messages/${entry.id}`)
    this.model.release(entry, body.data.sentAt)
    this.heard.tellAgain(this.model, entry)
    this.told.push(`message_sent ${entry.id}`)
  }

  /** A reviewer has taken away what was seen. */
  blocked(entry: Entry): void {
    this.heard.tellGone(this.model, entry)
    this.told.push(`message_deleted ${entry.id}`)
    this.model.block(entry)
  }

  /** An edit or deletion leaves an action, which is its answer. */
  changed(answer: Answer, subject: Entry, by: Entry['by']): void {
    const { id: about, talk, parent } = subject
    const { id, sentAt } = answer.body.data
    const entry = this.model.add({
      ...{ id: Number(id), sentAt, talk, by, kind: 'change', words: '', about },
      ...(by === 'app_system' && { writer: subject.by }),
      ...(parent !== undefined && { parent }),
    })
    this.heard.tell(this.model, entry, { subject })
  }

  /** A group event leaves an action, which is the newest of its history. */
  async event(
    group: Group,
    by: Person | 'app_system',
    also: readonly Person[],
    change: (since: Place) => void,
  ): Promise<void> {
    const { body } = await this.service.get(`/groups/${group}/messages?limit=1&affix=prepend`)
    const [{ id, sentAt }] = body.data
    change({ sentAt, id: Number(id) - 1 })
    const entry = this.model.add({ id: Number(id), sentAt, talk: group, by, kind: 'member', words: '' })
    this.heard.tell(this.model, entry, { also })
  }
}

export const badWord = 'rotten'
const isBad = (words: string) => words.endsWith(badWord)

export function receiver(to: Person | Group): { receiver: string; receiverType: string } {
  return { receiver: to, receiverType: isGroup(to as Talk) ? 'group' : 'user' }
}

/** What is wrong with an answer. */
export function wrong(answer: Answer, expected: 'must' | 'may' | 'must not'): string | undefined {
  const isDone = answer.status === 200
  if (answer.status >= 500) return JSON.stringify(answer.body)
  if (expected === 'may' || isDone === (expected === 'must')) return
  return `it ${expected} be allowed, and was answered ${answer.status} ${JSON.stringify(answer.body).slice(0, 600)}`
}
