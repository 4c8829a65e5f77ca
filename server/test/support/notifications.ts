import { dataOf } from './chat.ts'
import type { Endpoint } from './endpoint.ts'
import type { OwnServices } from './own-services.ts'
import { until } from './until.ts'
import type { World } from './world.ts'

/** Sets up the app's own push provider; answers it as made. */
export async function setUpCustomPush(world: World, webhookURL: string, settings: object = {}) {
  const { pushProviders } = dataOf(
    await world.post('/notifications/push/v1/providers/custom', {
      ...{ isEnabled: true, webhookURL, useBasicAuth: false, basicAuthUsername: '', basicAuthPassword: '' },
      ...settings,
    }),
  )
  return pushProviders[0]
}

/** What became of notifications, oldest first. */
export async function logsOf(world: World, query = '') {
  return dataOf(await world.get(`/notifications/v1/logs${query}`))
}

/**
 * Has what waits for the app's provider sent now, also if that asked to be left alone. What came of attempts under way is
 * written before: otherwise it would put off again what is due by then.
 * @param trigger of what alone is sent; the rest stays where it is
 */
export async function sendNow(own: OwnServices, world: World, trigger?: string): Promise<void> {
  const app = [world.app.appId]
  const sending = 'select from notification_senders where app_id = $1 and leased_until > 0'
  await until(async () => (await own.query(sending, app)).length === 0)
  const due = `
    update notification_deliveries
    set due_at = case when trigger = coalesce($2, trigger) then 1 else due_at + 3600000 end
    where app_id = $1
    and due_at is not null`
  await own.query(due, [...app, trigger])
  await own.query('update notification_senders set paused_until = 0 where app_id = $1', app)
}

/** What an endpoint was told, as `bob: title, body`, by user. */
export function toldTo(endpoint: Endpoint): string[] {
  return endpoint.received
    .map(({ body: { data } }) => `${data.to.uid}: ${data.notificationDetails.title}, ${data.notificationDetails.body}`)
    .sort()
}

export const patch = (world: World, path: string, body: object) => world.call('PATCH', path, body)

export const twilio = '/notifications/sms/v1/providers/twilio'
export const sendGrid = '/notifications/email/v1/providers/sendgrid'
export const customSms = '/notifications/sms/v1/providers/custom'
export const customEmail = '/notifications/email/v1/providers/custom'

export const twilioAccount = {
  twilioAccountSID: 'sid-1',
  twilioAuthToken: 'a-token-of-twilio',
  twilioSenderPhoneNumber: '+15550100',
}

export const sendGridAccount = {
  ...{ sendGridApiKey: 'SG.a-key-of-sendgrid', sendGridTemplateID: 'tpl-1', sendGridUnsubscribeGroupID: '101' },
  ...{ senderName: 'Team chat', senderEmail: 'chat@example.com' },
  ...{ allowEmailReplies: true, senderEmailForReplies: 'reply@example.com' },
}

/** Sets the contact details of a user. */
export const contact = (world: World, uid: string, details: object) =>
  world.call('PATCH', '/notifications/v1/contact-details', details, { as: uid })
