import { type Static, Type } from 'typebox'
import { limits } from '../../limits.ts'
import { defineOperation } from '../../operation.ts'
import {
  enveloped,
  JsonObject,
  Message,
  MessageIdIn,
  NoParams,
  NoQuery,
  Outcome,
  oneOf,
  requiring,
} from '../../schemas.ts'

const shared = { area: 'Moderation', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const
const { moderationLimit, moderation } = limits

const Epoch = (description: string) => Type.Integer({ description: `${description}, in epoch seconds` })

/** A reviewer, as the app names its own: not one of its users, or one. */
const ReviewerIn = Type.String({ minLength: 1, maxLength: moderation.nameLength })
const reviewer = { ...ReviewerIn, description: 'Beyond the public contract: who decides, as your app names them' }

/** A flag of one user. */
export const Flag = Type.Object(
  {
    uid: Type.String(),
    name: Type.String(),
    avatar: Type.Optional(Type.String()),
    role: Type.Optional(Type.String()),
    reasonId: Type.Optional(Type.String()),
    reasonName: Type.Optional(Type.String()),
    description: Type.Optional(Type.String({ description: 'Of the reason' })),
    remark: Type.Optional(Type.String()),
    flaggedAt: Epoch('When they flagged it last'),
  },
  { additionalProperties: false },
)
export type Flag = Static<typeof Flag>

/** What a rule found in a message. */
export const FoundCondition = JsonObject

/** A rule that flagged a message, and the condition that it met. */
export const FlaggingRule = Type.Object(
  { ruleId: Type.String(), ruleName: Type.String(), revisionId: Type.String(), condition: FoundCondition },
  { additionalProperties: false },
)
export type FlaggingRule = Static<typeof FlaggingRule>

/** A reviewer has a message before them; until then nobody else decides about it. */
export const Claim = Type.Object({ reviewer: Type.String(), until: Epoch('When it ends') })
export type Claim = Static<typeof Claim>

/** What reviewers leave beside a message, for each other. */
export const ModerationNote = Type.Object(
  {
    id: Type.String(),
    text: Type.String(),
    author: Type.Optional(Type.String()),
    createdAt: Epoch('When it was left'),
  },
  { additionalProperties: false },
)
export type ModerationNote = Static<typeof ModerationNote>

/** Beyond the public contract, in each item of the three lists. */
const around = {
  claim: Type.Optional(Claim),
  notes: Type.Optional(Type.Array(ModerationNote)),
}

const flags = {
  flaggedBy: Type.Array(Flag, { description: 'Those who flagged it, in the order in which they did, at most 100' }),
  flaggedCount: Type.Integer({ description: 'How many users flagged it' }),
  flaggedByRules: Type.Optional(Type.Array(FlaggingRule)),
}

/** A message that people are to look at. */
export const FlaggedMessage = Type.Object(
  {
    appId: Type.String(),
    ...Message.properties,
    ...flags,
    openedAt: Epoch('Since when it waits for a review'),
    ...around,
  },
  { additionalProperties: false },
)
export type FlaggedMessage = Static<typeof FlaggedMessage>

const hit = {
  ruleId: Type.Optional(Type.String()),
  ruleName: Type.Optional(Type.String()),
  revisionId: Type.Optional(Type.String()),
  condition: Type.Optional(FoundCondition),
  match: Type.Optional(
    Type.Object(
      {
        in: oneOf('text', 'custom'),
        start: Type.Integer(),
        end: Type.Integer(),
        text: Type.Optional(Type.String()),
      },
      { description: 'Beyond the public contract: what was found and where, in UTF-16 units' },
    ),
  ),
  confidence: Type.Optional(Type.Number({ description: 'Of an engine, in percent' })),
  reason: Type.Optional(Type.String({ description: 'What an engine said' })),
  action: Type.Optional(Type.Array(Type.String())),
}

const blocked = {
  appId: Type.String(),
  ...hit,
  message: Message,
  createdAt: Epoch('When moderation first held it'),
  updatedAt: Epoch('When it was last decided'),
  blockedAt: Type.Optional(
    Type.String({ description: 'Epoch seconds, a dot, and the id of the message with 15 digits' }),
  ),
}

export const reviewDecisions = ['approved', 'disapproved', 'rejected', 'reviewed'] as const
export type ReviewDecision = (typeof reviewDecisions)[number]

const review = {
  decision: oneOf(...reviewDecisions),
  reviewedAt: Epoch('When it was decided'),
  reviewedBy: Type.Optional(Type.String()),
}

/** A message that moderation blocked, with the rule and the condition that did it. */
export const BlockedMessage = Type.Object(
  { ...blocked, ...Type.Partial(Type.Object(review)).properties, ...around },
  { additionalProperties: false },
)
export type BlockedMessage = Static<typeof BlockedMessage>

/** A message about which reviewers have decided. */
export const ReviewedMessage = Type.Object(
  { ...blocked, ...flags, list: oneOf('flagged', 'blocked'), ...review, ...around },
  { additionalProperties: false },
)
export type ReviewedMessage = Static<typeof ReviewedMessage>

/** Filters of the lists, beyond the public contract but for `limit`. */
const filters = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: moderationLimit.max, default: moderationLimit.default })),
  after: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,12}_[0-9]{1,16}$', description: 'For the next page: `meta.next.after`' }),
  ),
  order: Type.Optional(oneOf('oldest', 'newest')),
  ruleId: Type.Optional(Type.String({ maxLength: moderation.idLength })),
  sender: Type.Optional(Type.String({ maxLength: limits.uidLength })),
  conversationId: Type.Optional(Type.String({ maxLength: 206 })),
  from: Type.Optional(Type.Integer({ minimum: 0, description: 'Since when, in epoch seconds' })),
  to: Type.Optional(Type.Integer({ minimum: 0, description: 'Until when, in epoch seconds' })),
}
const claimed = Type.Optional(
  Type.Boolean({ description: 'Only messages that a reviewer has claimed, or only those that nobody has' }),
)
const flagFilters = {
  reasonId: Type.Optional(Type.String({ maxLength: moderation.idLength })),
  flaggedBy: Type.Optional(Type.String({ maxLength: limits.uidLength, description: 'uid' })),
}

const QueueMeta = Type.Object({
  current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
  next: Type.Optional(Type.Object({ after: Type.String() })),
})

const page = <Item extends Parameters<typeof Type.Array>[0]>(item: Item) =>
  Type.Object({ data: Type.Array(item), meta: QueueMeta })

export const flagMessage = defineOperation({
  ...shared,
  id: 'flag-a-message',
  method: 'POST',
  path: '/messages/{id}/flagged',
  summary: 'Flag a message',
  description:
    'Reports a message that the user sees to the reviewers. It stays visible until one of them decides. A second flag of the same user counts once, and replaces the reason and the remark.',
  access: { user: true },
  onBehalfOf: 'required',
  params: Type.Object({ id: Type.String({ description: 'Message id' }) }),
  query: NoQuery,
  body: Type.Object({
    id: Type.Optional(Type.String({ maxLength: moderation.idLength, description: 'The id of a reason' })),
    reasonId: Type.Optional(Type.String({ maxLength: moderation.idLength, description: 'The same' })),
    remark: Type.Optional(Type.String({ maxLength: moderation.remarkLength })),
  }),
  answer: Outcome,
  errors: [
    'ERR_MESSAGE_ID_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_REASON_NOT_FOUND',
    'ERR_SELF_ACTION_DENIED',
    'ERR_MESSAGE_ACTION_NOT_ALLOWED',
  ],
})

export const listFlaggedMessages = defineOperation({
  ...shared,
  id: 'list-flagged-messages',
  method: 'GET',
  path: '/moderation/flagged-messages',
  summary: 'List messages that wait for a review, the oldest first',
  description: 'Those that users or rules have flagged. Dates are those from which on a message waits.',
  params: NoParams,
  query: Type.Object({ ...filters, ...flagFilters, claimed }),
  answer: page(FlaggedMessage),
  errors: [],
})

const decide = {
  reviewedBy: Type.Optional(reviewer),
  override: Type.Optional(
    Type.Boolean({
      description: 'Beyond the public contract: also if another reviewer has decided otherwise, or has claimed it',
    }),
  ),
}
const asNew = Type.Optional(
  Type.Boolean({
    description:
      'Beyond the public contract, beside `approved`. true: a message that nobody has seen is sent now. false: it appears at its old place, and nobody is notified. Default: true',
  }),
)

const EditedAt = Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])
const seenAs =
  'Beyond the public contract: `editedAt` of the message as the reviewer saw it, `null` where it had none. If it was edited since, nothing is decided about it'
const seen = { editedAt: Type.Optional({ ...EditedAt, description: seenAs }) }
const seenOfEach = {
  editedAt: Type.Optional(
    Type.Record(Type.String(), EditedAt, {
      maxProperties: moderation.decisionsPerRequest,
      description: `${seenAs}; by the id of the message`,
    }),
  ),
}

const flaggedDecision = {
  status: Type.Optional(oneOf('approved', 'disapproved', 'rejected')),
  ...decide,
}
const blockedDecision = {
  status: Type.Optional(oneOf('approved', 'rejected', 'disapproved')),
  reviewed: Type.Optional(
    Type.Boolean({
      description: 'Without `status`: it stays blocked, and leaves or enters the list of those to review',
    }),
  ),
  asNew,
  ...decide,
}

const reviewErrors = [
  'ERR_MESSAGE_ID_NOT_FOUND',
  'ERR_MESSAGE_ALREADY_REVIEWED',
  'ERR_MESSAGE_ALREADY_CLAIMED',
  'ERR_MESSAGE_NOT_RELEASED',
] as const

export const reviewFlaggedMessage = defineOperation({
  ...shared,
  id: 'blockreview-flagged-message',
  method: 'PATCH',
  path: '/moderation/flagged-messages/{id}',
  summary: 'Decide about a flagged message',
  description:
    'approved: it stays visible. disapproved: only its sender has it from then on. It leaves the list of flagged messages for that of the reviewed ones. The same decision again changes nothing; another one is refused, unless override is set.',
  params: Type.Object({ id: Type.String({ description: 'Message id' }) }),
  query: NoQuery,
  body: Type.Object({ ...flaggedDecision, ...seen }),
  plain: { body: requiring(Type.Object({ ...flaggedDecision, ...seen }), 'status') },
  answer: Outcome,
  errors: reviewErrors,
})

export const listReviewedMessages = defineOperation({
  ...shared,
  id: 'list-reviewed-messages',
  method: 'GET',
  path: '/moderation/reviewed-messages',
  summary: 'List messages about which reviewers have decided, the last decision first',
  description: 'Dates are those of the decisions.',
  params: NoParams,
  query: Type.Object({
    ...filters,
    ...flagFilters,
    decision: Type.Optional(oneOf(...reviewDecisions)),
    reviewedBy: Type.Optional(ReviewerIn),
  }),
  answer: page(ReviewedMessage),
  errors: [],
})

export const listBlockedMessages = defineOperation({
  ...shared,
  id: 'list-moderation-blocked-messages',
  method: 'GET',
  path: '/moderation/blocked-messages',
  summary: 'List messages that moderation blocked, the oldest first',
  description:
    'Those that no reviewer has looked at, with the rule and the condition that blocked each. Dates are those of the block.',
  params: NoParams,
  query: Type.Object({
    ...filters,
    claimed,
    reviewed: Type.Optional(Type.Boolean({ description: 'true: only those that a reviewer has looked at' })),
  }),
  answer: page(BlockedMessage),
  errors: [],
})

export const reviewBlockedMessage = defineOperation({
  ...shared,
  id: 'review-blocked-message',
  method: 'PATCH',
  path: '/moderation/blocked-messages/{id}',
  summary: 'Decide about a message that moderation holds or blocked',
  description:
    'approved: it is sent now, unless others had seen it: then it returns to its place. The rules of writing are asked again; if they forbid it by now, it stays blocked and the error says why. rejected: it stays blocked. The same decision again changes nothing; another one is refused, unless override is set.',
  params: Type.Object({ id: Type.String({ description: 'Message id' }) }),
  query: NoQuery,
  body: Type.Object({ ...blockedDecision, ...seen }),
  plain: { body: Type.Object({ ...blockedDecision, ...seen }, { minProperties: 1 }) },
  answer: enveloped(Outcome),
  errors: reviewErrors,
})

/** Messages that one request decides about. */
const ids = Type.Array(MessageIdIn, { minItems: 1, maxItems: moderation.decisionsPerRequest })

/** What became of each message, by its id. */
const Outcomes = enveloped(Type.Record(Type.String(), JsonObject))

export const reviewFlaggedMessages = defineOperation({
  ...shared,
  id: 'review-flagged-messages',
  method: 'PATCH',
  path: '/moderation/flagged-messages',
  summary: 'Decide about several flagged messages',
  description: 'Beyond the public contract. One that is refused does not stop the others.',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ ids, ...flaggedDecision, ...seenOfEach }),
  answer: Outcomes,
  errors: [],
})

export const reviewBlockedMessages = defineOperation({
  ...shared,
  id: 'review-blocked-messages',
  method: 'PATCH',
  path: '/moderation/blocked-messages',
  summary: 'Decide about several blocked messages',
  description: 'Beyond the public contract. One that is refused does not stop the others.',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ ids, ...blockedDecision, ...seenOfEach }),
  answer: Outcomes,
  errors: [],
})

const ClaimAnswer = Type.Object({
  ids: Type.Array(Type.String(), { description: 'The messages that are claimed now, the oldest first' }),
  until: Epoch('When the claim ends'),
})

export const claimMessages = defineOperation({
  ...shared,
  id: 'claim-moderated-messages',
  method: 'POST',
  path: '/moderation/claims',
  summary: 'Claim messages to review',
  description:
    'Beyond the public contract. For some time nobody else can claim or decide these messages: either those of ids, or the oldest that nobody has claimed. A claim of the same reviewer is prolonged. Those of ids that somebody else has are left out.',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    list: oneOf('flagged', 'blocked'),
    reviewer: ReviewerIn,
    ids: Type.Optional(ids),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: moderation.decisionsPerRequest, default: 10 })),
    seconds: Type.Optional(
      Type.Integer({ minimum: 10, maximum: 86_400, default: 600, description: 'How long the claim holds' }),
    ),
    ruleId: filters.ruleId,
    sender: filters.sender,
    conversationId: filters.conversationId,
    reasonId: flagFilters.reasonId,
  }),
  answer: enveloped(ClaimAnswer),
  errors: [],
})

export const releaseClaims = defineOperation({
  ...shared,
  id: 'release-moderation-claims',
  method: 'DELETE',
  path: '/moderation/claims',
  summary: 'Give claimed messages back',
  description: 'Beyond the public contract. Without ids all that the reviewer has claimed.',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ reviewer: ReviewerIn, ids: Type.Optional(ids) }),
  answer: enveloped(Outcome),
  errors: [],
})

const Waiting = Type.Object({
  open: Type.Integer({ description: 'How many messages wait' }),
  claimed: Type.Integer({ description: 'How many of them a reviewer has claimed' }),
  oldestAt: Type.Optional(Epoch('Since when the oldest one waits')),
  oldestAge: Type.Optional(Type.Integer({ description: 'How long, in seconds' })),
})

export const getModerationQueue = defineOperation({
  ...shared,
  id: 'get-moderation-queue',
  method: 'GET',
  path: '/moderation/queue',
  summary: 'Count the messages that wait',
  description: 'Beyond the public contract. pending: those that wait for an engine.',
  params: NoParams,
  query: NoQuery,
  answer: enveloped(Type.Object({ flagged: Waiting, blocked: Waiting, pending: Type.Omit(Waiting, ['claimed']) })),
  errors: [],
})

const RuleStats = Type.Object({
  ruleId: Type.String(),
  hits: Type.Integer({ description: 'Decisions in which a condition of it was met, in whatever mode' }),
  shadow: Type.Integer({ description: 'Those of them that only were logged' }),
  blocked: Type.Integer({ description: 'Messages that it blocked' }),
  flagged: Type.Integer({ description: 'Messages that it flagged' }),
  upheld: Type.Integer({ description: 'Messages of these that reviewers left blocked, or blocked' }),
  overturned: Type.Integer({ description: 'Messages of these that reviewers approved' }),
})

export const getModerationStats = defineOperation({
  ...shared,
  id: 'get-moderation-stats',
  method: 'GET',
  path: '/moderation/stats',
  summary: 'Count what rules decided',
  description:
    'Beyond the public contract. By default of the last 30 days; at most a year. Reviews count with the decision that they are about.',
  params: NoParams,
  query: Type.Object({ from: filters.from, to: filters.to }),
  answer: enveloped(
    Type.Object({
      from: Type.Integer(),
      to: Type.Integer(),
      rules: Type.Array(RuleStats),
      flags: Type.Integer({ description: 'Flags of users' }),
      reviews: Type.Object({
        approved: Type.Integer(),
        disapproved: Type.Integer(),
        rejected: Type.Integer(),
        reviewed: Type.Integer(),
      }),
    }),
  ),
  errors: [],
})

const NoteParams = Type.Object({ id: Type.String({ description: 'Message id' }) })
const notes = { ...shared, path: '/moderation/messages/{id}/notes', params: NoteParams, query: NoQuery } as const

export const addModerationNote = defineOperation({
  ...notes,
  id: 'add-moderation-note',
  method: 'POST',
  summary: 'Leave a note beside a message',
  description: `Beyond the public contract. For other reviewers; up to ${moderation.notesPerMessage} of a message.`,
  body: Type.Object({
    text: Type.String({ minLength: 1, maxLength: moderation.noteLength }),
    author: Type.Optional(ReviewerIn),
  }),
  answer: enveloped(ModerationNote),
  errors: ['ERR_MESSAGE_ID_NOT_FOUND'],
})

export const listModerationNotes = defineOperation({
  ...notes,
  id: 'list-moderation-notes',
  method: 'GET',
  summary: 'List the notes beside a message',
  description: 'Beyond the public contract. In the order in which they were left.',
  answer: enveloped(Type.Array(ModerationNote)),
  errors: ['ERR_MESSAGE_ID_NOT_FOUND'],
})

export const deleteModerationNote = defineOperation({
  ...notes,
  id: 'delete-moderation-note',
  method: 'DELETE',
  path: '/moderation/messages/{id}/notes/{noteId}',
  summary: 'Delete a note',
  description: 'Beyond the public contract.',
  params: Type.Object({ id: Type.String({ description: 'Message id' }), noteId: Type.String() }),
  answer: enveloped(Outcome),
  errors: ['ERR_MESSAGE_ID_NOT_FOUND', 'ERR_NOTE_NOT_FOUND'],
})
