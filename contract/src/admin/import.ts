import { type Static, Type } from 'typebox'
import { importKinds } from '../import-records.ts'
import { limits } from '../limits.ts'
import { oneOf } from '../schemas.ts'
import { defineAdminOperation } from './operation.ts'

const Name = Type.String({ description: '`users/<uid>`, `groups/<guid>`, `roles/<role>` or `messages/<muid>`' })

const CheckedRecord = Type.Object({
  state: oneOf('good', 'known', 'refused'),
  code: Type.Optional(Type.String({ description: 'Why it would be refused' })),
  reason: Type.Optional(Type.String()),
  name: Type.Optional(Type.String({ description: 'What it is the record of, such as `users/alice`' })),
  ignored: Type.Optional(
    Type.Array(Type.String(), { description: 'Members of the record that an import does not know' }),
  ),
  makes: Type.Array(Name, { description: 'Users and groups that it makes where they are missing, itself included' }),
  missing: Type.Array(Type.Object({ name: Name, path: Type.String({ description: 'Where it names it' }) }), {
    description: 'What it counts on, and the app does not have: a record before it must make it',
  }),
})
export type CheckedRecord = Static<typeof CheckedRecord>

export const checkImport = defineAdminOperation({
  id: 'check-import',
  area: 'Import',
  method: 'POST',
  path: '/apps/{appId}/import-checks',
  summary: 'Check what an import would make of records, without storing anything',
  description:
    'Each record is checked by the rules of the import, and what it names is looked up in the app. The answer has one entry for each record, in their order.',
  access: 'manage',
  bodyLimit: limits.bodyBytes.import,
  params: Type.Object({ appId: Type.String() }),
  query: Type.Object({}),
  body: Type.Object({
    kind: oneOf(...importKinds),
    records: Type.Array(Type.Unknown(), { maxItems: limits.importRecords }),
  }),
  answer: Type.Object({ data: Type.Array(CheckedRecord) }),
  errors: ['ERR_APP_NOT_FOUND'],
})
