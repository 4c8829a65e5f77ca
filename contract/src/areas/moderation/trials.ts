import { type Static, Type } from 'typebox'
import { defineOperation } from '../../operation.ts'
import { EpochSecondsIn, enveloped, IdIn, NoQuery, Outcome, oneOf, ReceiverType } from '../../schemas.ts'

const shared = { area: 'Moderation', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const
const RuleParams = Type.Object({ ruleId: Type.String() })
const one = { ...shared, params: RuleParams, query: NoQuery } as const
const unknownRule = ['ERR_RULE_NOT_FOUND'] as const
const unknownRun = [...unknownRule, 'ERR_DRY_RUN_NOT_FOUND'] as const

const ofText = oneOf('text', 'custom')

/** What a rule finds in a text. */
export const TrialHit = Type.Object({
  condition: Type.Integer({ description: 'Id of the condition' }),
  list: Type.Optional(Type.Object({ id: Type.String(), revisionId: Type.String() })),
  match: Type.Optional(
    Type.Object({
      in: ofText,
      start: Type.Integer({ description: 'UTF-16 units from the start of the text' }),
      end: Type.Integer({ description: 'The first unit behind it' }),
      text: Type.String(),
    }),
  ),
  confidence: Type.Optional(Type.Number({ description: 'Percent' })),
})

const Trial = Type.Object({
  isHit: Type.Boolean(),
  hits: Type.Array(TrialHit),
  questions: Type.Array(
    Type.Object({
      condition: Type.Integer({ description: 'Id of the condition' }),
      label: Type.Optional(Type.String()),
      list: Type.Optional(Type.Object({ id: Type.String(), revisionId: Type.String() })),
    }),
    { description: 'What only an engine outside could answer; nobody is asked' },
  ),
})

export const testRule = defineOperation({
  ...one,
  id: 'test-rule',
  method: 'POST',
  path: '/moderation/rules/{ruleId}/test',
  summary: 'Try texts on a moderation rule',
  description:
    'Beyond the public contract. The rule is asked as it is now, whatever its mode; nothing is stored. Without sender and receiver, its filters are not asked. Conditions on rate and repetition are never met here.',
  body: Type.Object({
    texts: Type.Array(Type.String({ maxLength: 10_000 }), { minItems: 1, maxItems: 100 }),
    operand: Type.Optional({
      ...ofText,
      description: 'What the texts are: of a message, or of its custom data. Default `text`',
    }),
    sender: Type.Optional({ ...IdIn, description: 'uid' }),
    receiver: Type.Optional({ ...IdIn, description: 'uid or guid' }),
    receiverType: Type.Optional(ReceiverType),
  }),
  answer: enveloped(
    Type.Object({
      revisionId: Type.String(),
      results: Type.Array(Trial, { description: 'In the order of the texts' }),
    }),
  ),
  errors: [...unknownRule, 'ERR_UID_NOT_FOUND', 'ERR_GUID_NOT_FOUND'],
})

const Example = Type.Object({
  messageId: Type.String(),
  sender: Type.String(),
  sentAt: Type.Integer({ description: 'Epoch seconds' }),
  text: Type.Optional(Type.String({ description: 'What the rule looked at, as the message says it now' })),
  condition: Type.Integer({ description: 'Id of the condition that was met' }),
  match: TrialHit.properties.match,
  label: Type.Optional(oneOf('right', 'wrong')),
})

export const DryRun = Type.Object(
  {
    ruleId: Type.String(),
    revisionId: Type.String(),
    status: oneOf('running', 'done', 'stopped', 'failed'),
    error: Type.Optional(Type.String({ description: 'Why it failed' })),
    from: Type.Integer({ description: 'Epoch seconds' }),
    to: Type.Integer({ description: 'Epoch seconds' }),
    sample: Type.Number({ description: 'Share of the messages that it looks at, up to 1' }),
    progress: Type.Number({ description: 'From 0 to 1' }),
    looked: Type.Integer({ description: 'Messages that it looked at' }),
    hits: Type.Integer({ description: 'Messages that the rule would have met' }),
    ignored: Type.Array(Type.Integer(), {
      description: 'Ids of conditions that are not asked: what engines outside answer, rate and repetition',
    }),
    days: Type.Array(
      Type.Object({
        day: Type.String({ description: 'In UTC, such as 2026-03-01' }),
        looked: Type.Integer(),
        hits: Type.Integer(),
      }),
    ),
    senders: Type.Array(Type.Object({ uid: Type.String(), hits: Type.Integer() }), {
      description: 'Those with the most hits, up to 100',
    }),
    examples: Type.Array(Example, { description: 'Hits, drawn at random, the latest first' }),
    precision: Type.Optional(
      Type.Object(
        {
          labelled: Type.Integer(),
          right: Type.Integer(),
          share: Type.Number({ description: 'Of the labelled hits those that are right' }),
          low: Type.Number(),
          high: Type.Number(),
        },
        { description: 'By the labels of the examples, with the limits of its Wilson interval of 95 %' },
      ),
    ),
    createdAt: Type.Integer({ description: 'Epoch seconds' }),
    finishedAt: Type.Optional(Type.Integer({ description: 'Epoch seconds' })),
  },
  { additionalProperties: false },
)
export type DryRun = Static<typeof DryRun>

const dryRun = { ...one, path: '/moderation/rules/{ruleId}/dry-run' } as const

export const startDryRun = defineOperation({
  ...dryRun,
  id: 'start-dry-run',
  method: 'POST',
  summary: 'Try a moderation rule on what was said',
  description:
    'Beyond the public contract. Looks through stored messages in the background, as the rule and its lists are now, whatever its mode; nothing becomes of them. Takes the place of an earlier dry run of the rule. Who sent a message is looked at as they are today.',
  body: Type.Object({
    from: Type.Optional({ ...EpochSecondsIn, description: 'Messages sent from then on. Default: 30 days ago' }),
    to: Type.Optional({ ...EpochSecondsIn, description: 'Messages sent until then. Default: now' }),
    sample: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1,
        description: 'Share of the messages that it looks at. Default 1',
      }),
    ),
  }),
  answer: enveloped(DryRun),
  errors: unknownRule,
})

export const getDryRun = defineOperation({
  ...dryRun,
  id: 'get-dry-run',
  method: 'GET',
  summary: 'Get progress and result of a dry run',
  description:
    'While it runs and when it is done: how many messages it has looked at, its hits, and some of them as examples.',
  query: Type.Object({ examples: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 50 })) }),
  answer: enveloped(DryRun),
  errors: unknownRun,
})

export const stopDryRun = defineOperation({
  ...dryRun,
  id: 'stop-dry-run',
  method: 'DELETE',
  summary: 'Stop a dry run',
  description: 'Soon, where it runs. What it found so far stays.',
  answer: enveloped(Outcome),
  errors: unknownRun,
})

export const labelExample = defineOperation({
  ...one,
  id: 'label-dry-run-example',
  method: 'PUT',
  path: '/moderation/rules/{ruleId}/dry-run/examples/{messageId}',
  summary: 'Label a hit of a dry run as right or wrong',
  description: 'The result of the dry run counts the labels.',
  params: Type.Object({ ruleId: Type.String(), messageId: Type.String() }),
  body: Type.Object({
    label: Type.Union([oneOf('right', 'wrong'), Type.Null()], {
      description: '`right`, `wrong`, or null for no label',
    }),
  }),
  answer: enveloped(Type.Object({ messageId: Type.String(), label: Type.Optional(oneOf('right', 'wrong')) })),
  errors: [...unknownRun, 'ERR_MESSAGE_ID_NOT_FOUND'],
})
