import { getAppHealth, getAppLimits, getDoctor, getHealth, startDoctor, stopDoctor } from '@parley/contract'
import { type AdminRoute, serveAdmin } from '../call.ts'
import { readAppNames } from '../sign-in.ts'
import { readAppHealth } from './app-health.ts'
import { readHealth } from './deployment-health.ts'
import { beginDoctor, endDoctor, readDoctor } from './doctor-runs.ts'

export const operations: readonly AdminRoute[] = [
  serveAdmin(getHealth, async (_, context) => ({ data: await readHealth(context) })),
  serveAdmin(getAppHealth, async ({ app }, context) => ({ data: await readAppHealth(context, app) })),
  serveAdmin(getAppLimits, async ({ app }, { config, settings }) => {
    const { notificationLogDays } = await settings.of(app.appId)
    return {
      data: {
        rateLimits: Object.entries(config.rateLimits).map(([name, { perMinute, burst, isSet }]) => ({
          ...{ name, perMinute, burst, isDefault: !isSet },
        })),
        keptDays: {
          events: config.eventsRetentionDays,
          auditLog: config.auditRetentionDays,
          notificationLogs: notificationLogDays,
        },
      },
    }
  }),
  serveAdmin(startDoctor, async ({ operator }, context) => ({ data: await beginDoctor(context, operator) })),
  serveAdmin(getDoctor, async (_, { database }) => {
    const run = await readDoctor(database, await readAppNames(database))
    return { data: run === undefined ? {} : { run } }
  }),
  serveAdmin(stopDoctor, async (_, context) => {
    await endDoctor(context)
    return { data: { success: true as const } }
  }),
]
