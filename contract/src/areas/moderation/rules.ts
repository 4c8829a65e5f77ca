import { type Static, Type } from 'typebox'
import { limits } from '../../limits.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery, Outcome, oneOf } from '../../schemas.ts'

const { moderation } = limits

/** Id of a rule, a list or a reason. Compared as it is, upper and lower case apart. */
export const ModerationIdIn = Type.String({
  minLength: 1,
  maxLength: moderation.idLength,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Letters, digits, `-` and `_`',
})

export const ModerationNameIn = Type.String({ minLength: 1, maxLength: moderation.nameLength })
export const ModerationDescriptionIn = Type.String({ maxLength: moderation.descriptionLength })

/** `limit` of lists that have no pages: the first so many. */
export const ModerationLimit = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.moderationLimit.max,
      default: limits.moderationLimit.default,
    }),
  ),
}

/** `meta` of those lists. */
export const ModerationListMeta = Type.Object({
  current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
})

export const ruleModes = ['off', 'shadow', 'on'] as const
export const ruleActions = ['blockMessage', 'dropMessage', 'flagMessage', 'banUser', 'kickUser', 'blockUser'] as const

const RuleModeSchema = {
  ...oneOf(...ruleModes),
  description:
    'Beyond the public contract. `shadow`: decides and logs, and does nothing. `enabled` is true where the mode is `on`',
}

const FilterOperator = {
  ...oneOf(
    ...['equals', 'notEquals', 'not equals', 'in', 'notIn', 'not in'],
    ...['startsWith', 'endsWith', 'lessThan', 'greaterThan'],
  ),
  description: 'Beside `in` and `notIn` the value holds several values, separated by commas',
}

export const RuleFilter = Type.Object({
  type: oneOf('sender', 'receiver'),
  entity: oneOf('user', 'group'),
  operand: {
    ...oneOf('uid', 'guid', 'name', 'role', 'type', 'tags', 'createdAt', 'scope'),
    description:
      'Of users uid, name, role, tags and createdAt; of groups guid, name, type, tags and createdAt. Beyond the public contract `scope`: that of the sender in the group; empty if they are not a member',
  },
  operator: FilterOperator,
  value: Type.String({ minLength: 1, maxLength: 1000 }),
})
export type RuleFilter = Static<typeof RuleFilter>

const Texts = Type.Unsafe<string | string[]>({
  anyOf: [
    { type: 'string', minLength: 1, maxLength: 1000 },
    { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 1000 } },
  ],
  description: 'a text, or a list of up to 100 texts, none of them empty or longer than 1,000 characters',
})

const references = {
  isKeywordsReferencePresent: Type.Optional(Type.Boolean({ description: '`value` holds ids of lists' })),
  isKeywordReferencePresent: Type.Optional(Type.Boolean({ description: 'The same' })),
  isListReferencePresent: Type.Optional(Type.Boolean({ description: 'The same' })),
}

const RuleConditionIn = Type.Object({
  entity: Type.Optional(oneOf('message')),
  operand: oneOf('text', 'image', 'video', 'custom'),
  category: {
    ...oneOf(
      ...['word', 'pattern', 'sentence-similarity', 'custom-api', 'prompt'],
      ...['links', 'length', 'rate', 'repetition'],
    ),
    description:
      'Conditions on pictures and videos are of the category `word`. Beyond the public contract: `links`, `length` (characters), `rate` (messages of the sender in a minute), `repetition` (times that they sent the same text in ten minutes)',
  },
  operator: Type.Optional(oneOf('contains', 'equals')),
  ...references,
  isMediaPresent: Type.Optional(
    Type.Boolean({
      description: 'The condition is on a label of a picture or video, as the engine of the app gives them',
    }),
  ),
  value: {
    ...Texts,
    description:
      'Words, patterns or ids of lists; for labels `<label>_greaterThan_<percent>`, for lists that need a threshold `<list id>_greaterThan_<percent>`, for links, length, rate and repetition `greaterThan_<number>`',
  },
  message: Type.Optional({ ...Texts, description: 'Readable texts of the formulas in `value`' }),
})
export type RuleConditionIn = Static<typeof RuleConditionIn>

/** A condition in a response: as it was sent, with its id. */
export const RuleCondition = Type.Object({
  id: Type.Integer({ description: 'Counts from 1 inside the rule' }),
  isKeywordsReferencePresent: Type.Boolean(),
  isKeywordReferencePresent: references.isKeywordReferencePresent,
  isListReferencePresent: references.isListReferencePresent,
  isMediaPresent: Type.Boolean(),
  entity: Type.String(),
  operand: oneOf('text', 'image', 'video', 'custom'),
  category: Type.String(),
  operator: oneOf('contains', 'equals'),
  value: Texts,
  message: Type.Optional(Texts),
})
export type RuleCondition = Static<typeof RuleCondition>

/** One revision of a rule. */
export const ModerationRule = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    enabled: Type.Boolean({ description: 'The rule acts: its mode is `on`' }),
    mode: RuleModeSchema,
    filters: Type.Optional(Type.Array(RuleFilter)),
    conditions: Type.Array(RuleCondition),
    exceptions: Type.Optional(Type.Array(Type.String())),
    action: Type.Array(Type.String()),
    active: Type.Boolean({ description: 'This revision is the current one' }),
    createdAt: Type.Integer({ description: 'Epoch seconds' }),
    updatedAt: Type.Integer({ description: 'Epoch seconds; of this revision' }),
    revisionId: Type.String({ description: '`<appId>_<ruleId>_<n>`, where n counts from 1' }),
    default: Type.Optional(Type.Boolean({ description: 'true on predefined rules' })),
  },
  { additionalProperties: false },
)
export type ModerationRule = Static<typeof ModerationRule>

const fields = {
  name: ModerationNameIn,
  description: Type.Optional(ModerationDescriptionIn),
  enabled: Type.Optional(Type.Boolean({ description: 'true: mode `on`, false: mode `off`' })),
  mode: Type.Optional(RuleModeSchema),
  filters: Type.Optional(
    Type.Array(RuleFilter, {
      maxItems: moderation.filtersPerRule,
      description: 'To which messages the rule applies: those that meet all filters. Default: all',
    }),
  ),
  conditions: Type.Array(RuleConditionIn, {
    minItems: 1,
    maxItems: moderation.conditionsPerRule,
    description: 'What the rule looks for: it is met where one of them is',
  }),
  exceptions: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: moderation.termLength }), {
      maxItems: 1000,
      description: 'Beyond the public contract: texts in which the rule finds nothing',
    }),
  ),
  action: Type.Optional(
    Type.Array(oneOf(...ruleActions), {
      minItems: 1,
      maxItems: ruleActions.length,
      description:
        'What happens when it is met. `blockMessage`, `dropMessage`: only its sender has the message. `flagMessage`: it is sent, and people are asked to look at it. `banUser`, `kickUser`: the sender, in groups. `blockUser`: the receiver blocks the sender, one-to-one. Owners and admins of groups stay. Default: `blockMessage`',
    }),
  ),
}

const shared = { area: 'Moderation', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const
const RuleParams = Type.Object({ ruleId: Type.String() })
const one = { ...shared, path: '/moderation/rules/{ruleId}', params: RuleParams, query: NoQuery } as const
const unknownRule = ['ERR_RULE_NOT_FOUND'] as const

export const createRule = defineOperation({
  ...shared,
  id: 'create-rule',
  method: 'POST',
  path: '/moderation/rules',
  summary: 'Create a moderation rule',
  description: `An app can have ${moderation.rulesPerApp} besides the predefined ones. Their words, patterns and exceptions count among the terms that an app can have in its lists. Without enabled and mode the rule is on. With the id of a predefined rule that was deleted that one is made again; fields that are left out are as they are shipped.`,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ id: ModerationIdIn, ...Type.Partial(Type.Object(fields)).properties }),
  answer: enveloped(ModerationRule),
  errors: ['ERR_RULE_ALREADY_EXISTS'],
})

export const listRules = defineOperation({
  ...shared,
  id: 'list-rules',
  method: 'GET',
  path: '/moderation/rules',
  summary: 'List moderation rules, newest first',
  description: 'Those of the app, then the predefined ones.',
  params: NoParams,
  query: Type.Object(ModerationLimit),
  answer: Type.Object({ data: Type.Array(ModerationRule), meta: ModerationListMeta }),
  errors: [],
})

export const getRule = defineOperation({
  ...one,
  id: 'get-rule',
  method: 'GET',
  summary: 'Get a moderation rule',
  description: 'As it is now, with the number of its revision.',
  answer: enveloped(ModerationRule),
  errors: unknownRule,
})

export const updateRule = defineOperation({
  ...one,
  id: 'update-rule',
  method: 'PUT',
  summary: 'Update a moderation rule',
  description:
    'Fields that are left out stay unchanged; lists are replaced as a whole. Each update makes a revision of its own, which holds for messages that are sent or edited from then on, within a second in all processes.',
  body: Type.Partial(Type.Object(fields)),
  answer: enveloped(ModerationRule),
  errors: unknownRule,
})

export const deleteRule = defineOperation({
  ...one,
  id: 'delete-rule',
  method: 'DELETE',
  summary: 'Delete a moderation rule',
  description:
    'Predefined rules, too. What it decided stays as it is. A rule that is made under its id later goes on counting revisions.',
  answer: enveloped(Outcome),
  errors: unknownRule,
})

export const listRuleRevisions = defineOperation({
  ...one,
  id: 'list-rule-revisions',
  method: 'GET',
  path: '/moderation/rules/{ruleId}/revisions',
  summary: 'List the revisions of a moderation rule, newest first',
  description: 'Each as it was. The last 1,000 are kept, and those that something names.',
  query: Type.Object(ModerationLimit),
  answer: Type.Object({ data: Type.Array(ModerationRule), meta: ModerationListMeta }),
  errors: unknownRule,
})
