import { type Static, Type } from 'typebox'
import { Outcome, oneOf } from '../schemas.ts'
import type { PermissionValue } from './kinds.ts'

const PermissionValueOut = Type.Unsafe<PermissionValue>({
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
})

/** A permission that a role or scope can be given; `value` is what it is set to, where it is. */
export const Permission = Type.Object(
  {
    id: Type.String(),
    type: oneOf('role', 'scope'),
    title: Type.String(),
    description: Type.String(),
    dataType: oneOf('string', 'stringArray', 'rolesStringArray', 'customStringArray'),
    availableValues: Type.Array(Type.String()),
    defaultValue: PermissionValueOut,
    value: Type.Optional(PermissionValueOut),
    createdAt: Type.Integer({ description: 'Epoch seconds' }),
    updatedAt: Type.Integer({ description: 'Epoch seconds' }),
  },
  { additionalProperties: false },
)

/** Everything that is set, value by key. */
export const PermissionMap = Type.Unsafe<Record<string, PermissionValue>>({
  type: 'object',
  additionalProperties: PermissionValueOut,
})

/** Permissions to be set, value by key; each key and value is judged by itself. */
export const PermissionsIn = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  minProperties: 1,
  additionalProperties: true,
  description: 'Value by permission key',
})

/** One entry for each key of the request, and under `permissions` everything that is then set. */
export const PermissionOutcomes = Type.Unsafe<Record<string, Static<typeof Outcome> | Record<string, PermissionValue>>>(
  {
    type: 'object',
    properties: { permissions: PermissionMap },
    required: ['permissions'],
    additionalProperties: Outcome,
  },
)
