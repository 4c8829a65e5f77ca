import type { AppSettings } from '@parley/contract'
import { forgetStaleDevices } from '../../chat/notifications/stale-devices.ts'
import type { Log } from '../../log.ts'
import type { AgeClock } from '../../store/age-clock.ts'
import type { Database } from '../../store/database.ts'
import { createUpkeep, type Upkeep } from '../outbound/upkeep.ts'
import { keepDays, readKept, removeLoose, removeOfDays } from './days.ts'
import { providerEndpoints } from './endpoints.ts'
import { rescuePlans } from './enqueue.ts'
import { rescueFlights } from './flights.ts'
import { endLeftBehind, endSomeLate } from './left-behind.ts'

/** A window is open for a day at most, and what it sends is tried for another one. */
const longestWaitMs = 2 * 86_400_000

/** Days and devices are kept for weeks, so an hour more is nothing. */
const seldomMs = 3_600_000

export function createNotificationUpkeep(
  { database, ageClock, log }: { readonly database: Database; readonly ageClock: AgeClock; readonly log: Log },
  defaults: Pick<AppSettings, 'notificationLogDays' | 'pushTakeBackRead' | 'tokenLifetime' | 'tokenIdleTimeout'>,
): Upkeep {
  let lookedAt = Number.NEGATIVE_INFINITY
  return createUpkeep({
    ...{ database, log, endpoints: providerEndpoints, longestWaitMs },
    async rescueMore() {
      await rescuePlans(database, defaults)
      await rescueFlights(database)
      await endLeftBehind(database)
    },
    async removeSome() {
      const now = await ageClock.now()
      const removed =
        (await endSomeLate(database, now)) + (await removeLoose(database, now, defaults.notificationLogDays))
      if (removed > 0 || performance.now() - lookedAt < seldomMs) return removed
      const kept = await readKept(database, defaults.notificationLogDays)
      await keepDays(database, now, kept)
      const others =
        (await removeOfDays(database, now, defaults.notificationLogDays, kept)) +
        (await forgetStaleDevices(database, defaults, now))
      if (others === 0) lookedAt = performance.now()
      return others
    },
  })
}
