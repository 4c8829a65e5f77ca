import { Type } from 'typebox'
import { NoParams } from '../schemas.ts'
import { defineAdminOperation } from './operation.ts'

const Line = Type.Object({
  number: Type.Integer(),
  at: Type.Integer({ description: 'Epoch seconds' }),
  text: Type.String({ description: 'What came, to which emulator, and what it answered' }),
})

export const getEmulatorsJournal = defineAdminOperation({
  id: 'get-emulators-journal',
  area: 'Emulators',
  method: 'GET',
  path: '/emulators/journal',
  summary: 'What came to the emulators of providers, newest first',
  description:
    'For development: `npm run emulate` stands in for providers and engines, and `EMULATORS_URL` names it. It has texts of all apps, so it is for operators of all apps who may read, and shows them for a reason, which is recorded once an hour in the audit log of operators.',
  access: 'read',
  params: NoParams,
  query: Type.Object({
    reason: Type.Optional(
      Type.String({ minLength: 3, maxLength: 500, description: 'Why it is read; without one no lines are shown' }),
    ),
  }),
  answer: Type.Object({
    data: Type.Object({
      isSet: Type.Boolean({ description: 'Whether `EMULATORS_URL` is set' }),
      problem: Type.Optional(Type.String({ description: 'Why nothing can be shown' })),
      lines: Type.Array(Line, { description: 'The newest 500' }),
    }),
  }),
  errors: [],
})
