import { type Static, type TProperties, Type } from 'typebox'
import { limits } from '../../limits.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery, Outcome, oneOf } from '../../schemas.ts'

/** What becomes of a message when an engine fails. */
export const EngineFailureAction = oneOf('approve-message', 'drop-message')
export type EngineFailureAction = Static<typeof EngineFailureAction>

const onError = {
  ...EngineFailureAction,
  description:
    'What a failure means. `approve-message` (the default): the condition is not met, and the others are looked at. `drop-message`: what the rule does when it is met is done',
}
const contextMessages = Type.Integer({
  minimum: 0,
  maximum: limits.moderation.contextMessages,
  description: 'Messages of the conversation that are sent along. Default 0',
})
const url = (what: string) => Type.String({ minLength: 1, maxLength: limits.moderation.urlLength, description: what })
const llmUrl = url(
  'Base URL of an API that is compatible with that of OpenAI, such as `https://api.openai.com/v1`: `/chat/completions` is added',
)
const labelsUrl = url('The https URL that is asked for the labels of pictures and videos')
const model = Type.String({ minLength: 1, maxLength: 200, description: 'The model that is asked' })
const apiKey = Type.String({
  minLength: 1,
  maxLength: 1000,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'Sent as `authorization: Bearer ...`, and never answered. Left out, the present one stays, as long as the URL names the same host',
})
const hasApiKey = Type.Boolean({ description: 'Whether a key is set' })

const strict = <const Members extends TProperties>(members: Members) =>
  Type.Object(members, { additionalProperties: false })

/** How the engines of custom-api lists are asked; each list has the address of its own. */
export const CustomApiEngine = strict({ onError, contextMessages })
export type CustomApiEngine = Static<typeof CustomApiEngine>

/** The language model that answers prompts. Without an address there is none. */
export const LlmEngine = strict({
  url: Type.Optional(llmUrl),
  model: Type.Optional(model),
  hasApiKey,
  onError,
  contextMessages,
})
export type LlmEngine = Static<typeof LlmEngine>

/** The engine that finds labels of pictures and videos. Without an address there is none. */
export const LabelsEngine = strict({ url: Type.Optional(labelsUrl), hasApiKey, onError })
export type LabelsEngine = Static<typeof LabelsEngine>

const shared = {
  area: 'Moderation',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  params: NoParams,
  query: NoQuery,
  errors: [],
} as const

/** The engines of an app. */
export const ModerationEngines = strict({ customApi: CustomApiEngine, llm: LlmEngine, labels: LabelsEngine })
export type ModerationEngines = Static<typeof ModerationEngines>

/** Beyond the public contract, which sets engines up in a dashboard. */
export const getModerationEngines = defineOperation({
  ...shared,
  id: 'get-moderation-engines',
  method: 'GET',
  path: '/moderation/engines',
  summary: 'Get the engines that rules can ask',
  description: 'Keys and passwords are never part of the response.',
  answer: enveloped(ModerationEngines),
})

export const updateCustomApiEngine = defineOperation({
  ...shared,
  id: 'update-custom-api-engine',
  method: 'PUT',
  path: '/moderation/engines/custom-api',
  summary: 'Set how the engines of custom-api lists are asked',
  description: 'What is left out is set to its default. Addresses and passwords are set with the lists.',
  body: Type.Object({ onError: Type.Optional(onError), contextMessages: Type.Optional(contextMessages) }),
  answer: enveloped(CustomApiEngine),
})

export const updateLlmEngine = defineOperation({
  ...shared,
  id: 'update-llm-engine',
  method: 'PUT',
  path: '/moderation/engines/llm',
  summary: 'Set the language model that answers prompts',
  description: 'What is left out is set to its default, but for the key.',
  body: Type.Object({
    ...{ url: llmUrl, model, apiKey: Type.Optional(apiKey) },
    ...{ onError: Type.Optional(onError), contextMessages: Type.Optional(contextMessages) },
  }),
  answer: enveloped(LlmEngine),
})

export const deleteLlmEngine = defineOperation({
  ...shared,
  id: 'delete-llm-engine',
  method: 'DELETE',
  path: '/moderation/engines/llm',
  summary: 'Forget the language model that answers prompts',
  description: 'Rules with prompts then fail as their failure setting says: by default the condition is not met.',
  answer: enveloped(Outcome),
})

export const updateLabelsEngine = defineOperation({
  ...shared,
  id: 'update-labels-engine',
  method: 'PUT',
  path: '/moderation/engines/labels',
  summary: 'Set the engine that finds labels of pictures and videos',
  description:
    'What is left out is set to its default, but for the key. Rules with labels are refused while none is set.',
  body: Type.Object({ url: labelsUrl, apiKey: Type.Optional(apiKey), onError: Type.Optional(onError) }),
  answer: enveloped(LabelsEngine),
})

export const deleteLabelsEngine = defineOperation({
  ...shared,
  id: 'delete-labels-engine',
  method: 'DELETE',
  path: '/moderation/engines/labels',
  summary: 'Forget the engine that finds labels of pictures and videos',
  description: 'Rules with labels then fail as their failure setting says: by default the condition is not met.',
  answer: enveloped(Outcome),
})
