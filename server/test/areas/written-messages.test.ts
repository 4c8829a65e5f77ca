import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type JsonText, toJson } from '../../src/chat/json.ts'
import {
  type MessageView,
  type RenderOptions,
  renderMessage,
  writeEnds,
  writeMessage,
} from '../../src/chat/messages/render.ts'

const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed())
const uid = fc.stringMatching(/^[a-z0-9_-]{1,12}(~1)?$/)
const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
const json = fc.dictionary(text, fc.jsonValue())
const ofName = (name: string) => (data: object) => !(name in data)

const view: fc.Arbitrary<MessageView> = fc.record({
  id,
  muid: orNull(text),
  sender: uid,
  kind: fc.constantFrom('user', 'group'),
  receiver: uid,
  category: fc.constantFrom('message', 'custom', 'action'),
  type: text,
  data: json.filter(ofName('entities')).filter(ofName('reactions')),
  parentId: orNull(id),
  quotedId: orNull(id),
  tags: orNull(fc.array(text)),
  sentAt: id,
  updatedAt: id,
  deliveredAt: orNull(id),
  readAt: orNull(id),
  editedAt: orNull(id),
  editedBy: orNull(uid),
  deletedAt: orNull(id),
  deletedBy: orNull(uid),
})

const reactions = fc.array(fc.record({ reaction: text, count: id }), { minLength: 1 })
const options: fc.Arbitrary<RenderOptions> = fc.record({
  withTags: fc.boolean(),
  additions: fc.constantFrom(undefined, []),
  quotedMessage: fc.constant(undefined),
})
const additions = fc.array(
  fc.oneof(
    reactions.map((given) => ({ fields: { reactions: given }, data: { reactions: given } })),
    fc.record({ fields: fc.record({ replyCount: id, pinnedBy: uid, threadSubscribed: fc.boolean() }) }),
  ),
  { maxLength: 2 },
)

it('a message that is written out is the one that is rendered, in the same order', () => {
  fc.assert(
    fc.property(view, options, additions, orNull(json), fc.boolean(), (message, shown, added, entities, isSpaced) => {
      const between = { conversationId: `group_${message.receiver}`, entities }
      const all = { ...shown, additions: added }
      // As it is stored, which is as it was sent.
      const data = (isSpaced ? JSON.stringify(message.data, null, 2) : JSON.stringify(message.data)) as JsonText
      const around = {
        ends: writeEnds(message, between.conversationId),
        entities: entities === null ? undefined : toJson(entities),
      }
      const written = writeMessage({ ...message, data }, around, all)
      expect(JSON.stringify(JSON.parse(written))).toBe(JSON.stringify(renderMessage(message, between, all)))
    }),
  )
})
