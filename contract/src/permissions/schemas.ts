import { type Static, Type } from 'typebox'
import { Outcome, oneOf } from '../schemas.ts'
import type { PermissionValue } from './kinds.ts'

const PermissionValueOut = Type.Unsafe<PermissionValue>({
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
})

/** A permission that a role or scope can have; `value` is present if it is set. */
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

/** All permissions that are set, value by key. */
export const PermissionMap = Type.Unsafe<Record<string, PermissionValue>>({
  type: 'object',
  additionalProperties: PermissionValueOut,
})

/** The permissions to set, value by key; each one is checked on its own. */
export const PermissionsIn = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  minProperties: 1,
  additionalProperties: true,
  description: 'Value by permission key',
})

/** One entry for each key of the request, and under `permissions` all that are set afterwards. */
export const PermissionOutcomes = Type.Unsafe<Record<string, Static<typeof Outcome> | Record<string, PermissionValue>>>(
  {
    type: 'object',
    properties: { permissions: PermissionMap },
    required: ['permissions'],
    additionalProperties: Outcome,
  },
)
