import { type Static, Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, NoQuery, Outcome, pageOf, pageQuery } from '../schemas.ts'

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
  description: 'Keys of features, with or without their prefix u.',
})

const Restriction = Type.Object(
  {
    title: Type.String(),
    description: Type.String(),
    key: Type.String(),
    path: Type.String({ description: 'The route that it guards' }),
    createdAt: Type.Integer({ description: 'Epoch seconds, since when it is restricted' }),
  },
  { additionalProperties: false },
)
export type Restriction = Static<typeof Restriction>

export const restrictFeatures = defineOperation({
  ...shared,
  id: 'restrict-features',
  method: 'POST',
  path: '/roles/{role}/restrictedfeatures',
  summary: 'Forbid features to a role',
  description:
    'A restricted call is refused with ERR_PERMISSION_DENIED. Keys are answered with their prefix u., an unknown one as it was sent, with success false; the others are restricted all the same. Role permissions say the same and more.',
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
  summary: 'List the features forbidden to a role, the newest restriction first',
  params: RoleParams,
  query: Type.Object(pageQuery()),
  answer: pageOf(Restriction),
})

export const allowFeatures = defineOperation({
  ...shared,
  id: 'allow-features',
  method: 'DELETE',
  path: '/roles/{role}/restrictedfeatures',
  summary: 'Lift restrictions of a role',
  description: 'A feature that is not restricted is no error, one that does not exist is.',
  params: RoleParams,
  query: NoQuery,
  body: Type.Object({
    featuresToAllow: Type.Optional(FeaturesIn),
    allowAll: Type.Optional(Type.Boolean({ description: 'Lift every restriction' })),
  }),
  answer: enveloped(Outcome),
})
