import { type Static, Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, NoParams, NoQuery, Outcome, pageOf, pageQuery } from '../schemas.ts'

const shared = {
  area: 'Restrict Features',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  errors: ['ERR_ROLE_NOT_FOUND'],
} as const

const RoleParams = Type.Object({ role: Type.String() })

const FeaturesIn = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 100,
  description: 'Feature keys, with or without the prefix u.',
})

const Restriction = Type.Object(
  {
    title: Type.String(),
    description: Type.String(),
    key: Type.String(),
    path: Type.String({ description: 'The route that the feature controls' }),
    createdAt: Type.Integer({ description: 'Epoch seconds: when it was restricted' }),
  },
  { additionalProperties: false },
)
export type Restriction = Static<typeof Restriction>

export const restrictFeatures = defineOperation({
  ...shared,
  id: 'restrict-features',
  method: 'POST',
  path: '/roles/{role}/restrictedfeatures',
  summary: 'Restrict features for a role',
  description:
    'Requests for a restricted feature fail with ERR_PERMISSION_DENIED. The response has each key with its prefix u.; an unknown key is returned as sent, with success: false, and does not stop the others. Role permissions can do the same and more.',
  params: RoleParams,
  query: NoQuery,
  body: Type.Object({ featuresToRestrict: Type.Array(FeaturesIn.items, { ...FeaturesIn, minItems: 1 }) }),
  answer: enveloped(
    Type.Unsafe<Record<string, Static<typeof Outcome>>>({ type: 'object', additionalProperties: Outcome }),
  ),
})

export const listRestrictedFeatures = defineOperation({
  ...shared,
  id: 'get-restrictedfeatures',
  method: 'GET',
  path: '/roles/{role}/restrictedfeatures',
  summary: 'List the restricted features of a role, newest restriction first',
  description: 'What users of this role cannot do, and which route each feature controls.',
  params: RoleParams,
  query: Type.Object(pageQuery()),
  answer: pageOf(Restriction),
})

export const listFeatures = defineOperation({
  ...shared,
  id: 'list-features',
  method: 'GET',
  path: '/restrictedfeatures',
  summary: 'List all features that can be restricted for a role',
  description: 'Those of calls can be restricted, but this service has no calls.',
  params: NoParams,
  query: NoQuery,
  answer: pageOf(Type.Omit(Restriction, ['createdAt'])),
  errors: [],
})

export const allowFeatures = defineOperation({
  ...shared,
  id: 'allow-features',
  method: 'DELETE',
  path: '/roles/{role}/restrictedfeatures',
  summary: 'Allow restricted features for a role',
  description: 'A feature that is not restricted is not an error; an unknown key is.',
  params: RoleParams,
  query: NoQuery,
  body: Type.Object({
    featuresToAllow: Type.Optional(FeaturesIn),
    allowAll: Type.Optional(Type.Boolean({ description: 'Allow all features' })),
  }),
  answer: enveloped(Outcome),
})
