import { type Static, Type } from 'typebox'
import { NoParams, oneOf } from '../schemas.ts'
import { defineAdminOperation } from './operation.ts'

const NoQuery = Type.Object({})
const Epoch = (description: string) => Type.Integer({ description: `${description}, epoch seconds` })
const Bytes = (description: string) => Type.Integer({ description: `${description}, bytes` })

const State = oneOf('ok', 'warning', 'failing')

const Concerned = Type.Object({
  appId: Type.String(),
  id: Type.String({ description: 'Id of the webhook, or channel and id of the provider' }),
  says: Type.String(),
  since: Type.Optional(Epoch('Since when')),
})

const Check = Type.Object({
  check: Type.String({ description: 'What was looked at, such as `database` or `webhooks`' }),
  state: State,
  says: Type.String({ description: 'What was found, in a sentence' }),
  since: Type.Optional(Epoch('Since when it is so, where that is known')),
  advice: Type.Optional(Type.String({ description: 'What to do; absent where all is well' })),
  concerned: Type.Optional(Type.Array(Concerned, { description: 'The first 20 of those that fail' })),
})
export type HealthCheck = Static<typeof Check>
export type HealthConcerned = Static<typeof Concerned>

const health = {
  state: State,
  at: Epoch('When it was looked at'),
  checks: Type.Array(Check, { description: 'What is wrong comes first' }),
}

const waiting = {
  pending: Type.Integer({ description: 'At most 10,000 are counted' }),
  oldestAt: Type.Optional(Epoch('Since when the first of them is due')),
}

export const getHealth = defineAdminOperation({
  id: 'get-health',
  area: 'Health',
  method: 'GET',
  path: '/health',
  summary: 'Health of the deployment, and what to do about what is wrong',
  description:
    'The database, Redis, jobs, the event log, the disk and the clock as the process that answers sees them, and webhooks, notification providers, moderation engines and queues of all apps. It answers 503 while the database is unavailable.',
  access: 'health',
  params: NoParams,
  query: NoQuery,
  answer: Type.Object({
    data: Type.Object({
      ...health,
      version: Type.String(),
      startedAt: Epoch('When the process that answers was started'),
      database: Type.Object({
        version: Type.String(),
        bytes: Bytes('Size of the database'),
        answersInMs: Type.Number({ description: 'How long it took to answer, in milliseconds' }),
        connections: Type.Integer(),
        mostConnections: Type.Integer({ description: 'How many it allows, those of other programs included' }),
      }),
      storage: Type.Object({
        bytes: Bytes('Files of all apps'),
        freeBytes: Bytes('Free on the disk that files are written to'),
      }),
      jobs: Type.Object({
        ...waiting,
        givenUp: Type.Integer({ description: 'Jobs that failed too often to be tried again' }),
      }),
    }),
  }),
  errors: [],
})

export const getAppHealth = defineAdminOperation({
  id: 'get-app-health',
  area: 'Health',
  method: 'GET',
  path: '/apps/{appId}/health',
  summary: 'Health of an app: its webhooks, notifications, files and moderation',
  access: 'look',
  params: Type.Object({ appId: Type.String() }),
  query: NoQuery,
  answer: Type.Object({
    data: Type.Object({
      ...health,
      messages: Type.Object({
        lastMinute: Type.Integer({ description: 'Sent within the last minute; at most 100,000 are counted' }),
      }),
      webhooks: Type.Object({ enabled: Type.Integer(), ...waiting }),
      notifications: Type.Object({ enabled: Type.Integer({ description: 'Providers in use' }), ...waiting }),
      reviews: Type.Object({
        flagged: Type.Integer({ description: 'Flagged messages that wait for a review; at most 10,000 are counted' }),
        blocked: Type.Integer({ description: 'Messages held back that wait for one; at most 10,000 are counted' }),
        oldestAt: Type.Optional(Epoch('Since when the first of them waits')),
      }),
      storage: Type.Object({
        bytes: Bytes('Files of the app'),
        mostBytes: Type.Optional(Bytes('As much as its settings allow')),
      }),
    }),
  }),
  errors: ['ERR_APP_NOT_FOUND'],
})

const Finding = Type.Object({
  check: Type.String(),
  meaning: Type.String({ description: 'What is wrong, in a sentence' }),
  count: Type.Integer(),
  examples: Type.Array(
    Type.Object({
      appId: Type.Optional(Type.String()),
      subject: Type.String({ description: 'What it was found at: ids, divided by `/`' }),
      stored: Type.Union([Type.String(), Type.Null()]),
      expected: Type.Union([Type.String(), Type.Null()]),
    }),
    { description: 'The first ten' },
  ),
})

const DoctorRun = Type.Object({
  id: Type.String(),
  status: oneOf('running', 'done', 'stopped', 'failed'),
  checked: Type.Integer({ description: 'Checks that are over' }),
  checks: Type.Integer({ description: 'Checks in all' }),
  current: Type.Optional(Type.String({ description: 'The check under way' })),
  findings: Type.Array(Finding),
  error: Type.Optional(Type.String()),
  startedBy: Type.Optional(Type.String({ description: 'Id of the operator' })),
  startedAt: Epoch('When it was asked for'),
  finishedAt: Type.Optional(Epoch('When it ended')),
})
export type DoctorRunShown = Static<typeof DoctorRun>

export const startDoctor = defineAdminOperation({
  id: 'start-doctor',
  area: 'Health',
  method: 'POST',
  path: '/doctor',
  summary: 'Recompute every derived figure in the background, and compare',
  description:
    'What `parley doctor` does, as a job: it only reads, one statement at a time, and goes on after a restart of the service. Findings of the run before are forgotten.',
  access: 'doctor',
  params: NoParams,
  query: NoQuery,
  answer: Type.Object({ data: DoctorRun }),
  errors: ['ERR_DOCTOR_RUNS'],
})

export const getDoctor = defineAdminOperation({
  id: 'get-doctor',
  area: 'Health',
  method: 'GET',
  path: '/doctor',
  summary: 'How far the doctor is, and what it found',
  access: 'health',
  params: NoParams,
  query: NoQuery,
  answer: Type.Object({
    data: Type.Object({
      run: Type.Optional(Type.Object(DoctorRun.properties, { description: 'Absent before the first' })),
    }),
  }),
  errors: [],
})

export const stopDoctor = defineAdminOperation({
  id: 'stop-doctor',
  area: 'Health',
  method: 'DELETE',
  path: '/doctor',
  summary: 'Stop the doctor; what it found stays',
  access: 'doctor',
  params: NoParams,
  query: NoQuery,
  answer: Type.Object({ data: Type.Object({ success: Type.Literal(true) }) }),
  errors: [],
})

const RateLimitShown = Type.Object({
  name: Type.String({ description: 'As `RATE_LIMITS` names it' }),
  perMinute: Type.Integer(),
  burst: Type.Integer({ description: 'How many may come at once, after a while without any' }),
  isDefault: Type.Boolean({ description: 'Defaults do not count what is done with a fullAccess key' }),
})

export const getAppLimits = defineAdminOperation({
  id: 'get-app-limits',
  area: 'Health',
  method: 'GET',
  path: '/apps/{appId}/limits',
  summary: 'The rate limits of an app, and how long its data is kept',
  description:
    'As the deployment is configured (`RATE_LIMITS`, `EVENTS_RETENTION_DAYS`, `AUDIT_RETENTION_DAYS`), and as the app has set it (`notificationLogDays`).',
  access: 'look',
  params: Type.Object({ appId: Type.String() }),
  query: NoQuery,
  answer: Type.Object({
    data: Type.Object({
      rateLimits: Type.Array(RateLimitShown, { description: 'What is missing is not limited' }),
      keptDays: Type.Object({
        events: Type.Integer(),
        auditLog: Type.Integer(),
        notificationLogs: Type.Integer(),
      }),
    }),
  }),
  errors: ['ERR_APP_NOT_FOUND'],
})
