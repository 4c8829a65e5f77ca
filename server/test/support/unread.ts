import { expect } from 'vitest'
import { dataOf } from './chat.ts'
import { contact, customEmail, customSms } from './notifications.ts'
import type { OwnServices } from './own-services.ts'
import { soon } from './until.ts'
import { createUsers, type World } from './world.ts'

/** Makes users who have an address for e-mail and a number for SMS each. */
export async function createReachable(world: World, ...uids: string[]): Promise<void> {
  await createUsers(world, ...uids)
  for (const [i, uid] of uids.entries()) {
    dataOf(await contact(world, uid, { email: `${uid}@example.com`, phno: `+155501${String(i).padStart(2, '0')}` }))
  }
}

/** Sets up the app's own provider of e-mail or SMS. */
export async function setUpCustom(world: World, channel: 'email' | 'sms', webhookURL: string, usesStored = true) {
  const [path, member] = channel === 'email' ? [customEmail, 'useStoredEmailID'] : [customSms, 'useStoredPhNo']
  dataOf(
    await world.post(path, {
      ...{ isEnabled: true, webhookURL, useBasicAuth: false, basicAuthUsername: '', basicAuthPassword: '' },
      [member]: usesStored,
    }),
  )
}

/** The open windows of an app, as `email bob`. */
export async function openWindowsOf({ query }: OwnServices, { app }: Pick<World, 'app'>): Promise<string[]> {
  const rows = await query<{ channel: string; uid: string }>(
    `select channel, uid from notification_deliveries
     where app_id = $1 and channel <> 'push' and due_at is not null and closed_at is null
     order by channel, uid, id`,
    [app.appId],
  )
  return rows.map(({ channel, uid }) => `${channel} ${uid}`)
}

/** Lets the time of everything that waits go by. */
export async function endWindows({ query }: OwnServices, { app }: Pick<World, 'app'>): Promise<void> {
  await query(
    `update notification_deliveries set due_at = 1 where app_id = $1 and channel <> 'push' and due_at is not null`,
    [app.appId],
  )
  await query(
    `select graphile_worker.add_job('send_notifications', json_build_object('appId', app_id, 'provider', provider),
       job_key => 'notify:' || app_id || ':' || provider)
     from notification_senders where app_id = $1`,
    [app.appId],
  )
}

/** Waits until everything that happened in an app is planned. */
export function whenPlanned({ query }: OwnServices, { app }: Pick<World, 'app'>): Promise<void> {
  return soon(async () => {
    const [row] = await query<{ isPlanned: boolean }>(
      `select p.event >= (select max(e.id) from events e where e.app_id = p.app_id) as "isPlanned"
       from notification_plans p where p.app_id = $1`,
      [app.appId],
    )
    expect(row?.isPlanned).toBe(true)
  })
}
