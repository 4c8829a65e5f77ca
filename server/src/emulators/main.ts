import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startApnsEmulator } from './apns.ts'
import { startCustomEmulator } from './custom.ts'
import { startFcmEmulator } from './fcm.ts'
import { startJournal } from './journal.ts'
import { showAsItComes } from './lines.ts'
import { startModerationEmulator } from './moderation.ts'
import { startSendGridEmulator } from './sendgrid.ts'
import { startSmtpEmulator } from './smtp.ts'
import { startTwilioEmulator } from './twilio.ts'
import { startWebPushEmulator } from './web-push.ts'

/** `npm run emulate`: stands in for providers and engines, so that a first push, e-mail, SMS or rule needs no account anywhere. */
const [fcm, apns, webPush, twilio, sendGrid, smtp, custom, moderation, journal] = await Promise.all([
  startFcmEmulator({ port: 9090 }),
  startApnsEmulator({ port: 9091 }),
  startWebPushEmulator({ port: 9092 }),
  startTwilioEmulator({ port: 9093 }),
  startSendGridEmulator({ port: 9094 }),
  startSmtpEmulator({ port: 9095 }),
  startCustomEmulator({ port: 9096 }),
  startModerationEmulator({ port: 9097 }),
  startJournal({ port: 9098 }),
])
const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-emulators-'))
const write = (name: string, content: string) => {
  const file = path.join(folder, name)
  writeFileSync(file, content)
  return file
}
const caFile = write('apns-ca.pem', apns.ca)
const fcmFile = write('fcm.json', JSON.stringify({ providerId: 'fcm', serviceAccountCreds: fcm.credentials }))
const apnsFile = write('apns.json', JSON.stringify({ providerId: 'apns', ...apns.credentials }))
const twilioFile = write(
  'twilio.json',
  JSON.stringify({
    twilioAccountSID: twilio.credentials.accountSid,
    twilioAuthToken: twilio.credentials.authToken,
    twilioSenderPhoneNumber: twilio.credentials.phoneNumber,
  }),
)
const sendGridFile = write(
  'sendgrid.json',
  JSON.stringify({
    ...{ sendGridApiKey: sendGrid.apiKey, sendGridTemplateID: 'template-1', sendGridUnsubscribeGroupID: '1' },
    ...{ senderName: 'Chat', senderEmail: 'chat@example.com', allowEmailReplies: true },
  }),
)
const add = (providers: string, file: string) =>
  `  curl -X POST $PARLEY_URL/v3/notifications/${providers} -H "apikey: $PARLEY_API_KEY" \\
    -H 'content-type: application/json' -d @${file}`

const own = (channel: 'push' | 'email' | 'sms', more: string) =>
  `  curl -X POST $PARLEY_URL/v3/notifications/${channel}/v1/providers/custom -H "apikey: $PARLEY_API_KEY" \\
    -H 'content-type: application/json' -d '{"isEnabled": true, "webhookURL": "${custom.endpoint}/${channel}", ${more}
    "useBasicAuth": false, "basicAuthUsername": "", "basicAuthPassword": ""}'`

console.log(`FCM, APNs, the push service of a browser, Twilio, SendGrid, a mail server, webhooks of your own and
moderation engines are emulated. Start Parley with

  FCM_ENDPOINT=${fcm.endpoint} FCM_TOKEN_ENDPOINT=${fcm.tokenEndpoint} \\
  APNS_ENDPOINT=${apns.endpoint} APNS_CA_FILE=${caFile} \\
  WEB_PUSH_HOSTS=${webPush.host} OUTBOUND_ALLOW=${webPush.host},${custom.host},${new URL(moderation.endpoint).host} \\
  TWILIO_ENDPOINT=${twilio.endpoint} SENDGRID_ENDPOINT=${sendGrid.endpoint} \\
  SMTP_URL=${smtp.url} MAIL_FROM='Chat <chat@example.com>' \\
  MAIL_REPLY_ADDRESS=reply@example.com MAIL_REPLY_SECRET=${randomBytes(12).toString('hex')} \\
  EMULATORS_URL=${journal.endpoint} PUBLIC_URL=http://127.0.0.1:8080 npm start

and add the providers that you want, with a fullAccess key. Pushes:

${add('push/v1/providers/fcm', fcmFile)}
${add('push/v1/providers/apns', apnsFile)}

SMS:

${add('sms/v1/providers/twilio', twilioFile)}

E-mails by the mail server:

  curl -X PUT $PARLEY_URL/v3/notifications/email/v1/providers/smtp -H "apikey: $PARLEY_API_KEY" \\
    -H 'content-type: application/json' -d '{"isEnabled": true}'

or by SendGrid:

${add('email/v1/providers/sendgrid', sendGridFile)}

Web Push needs no provider. A browser subscribes, and its user registers that as "subscription" with the platform web_push:

  KEY=$(curl -s $PARLEY_URL/v3/notifications/push/v1/vapid-key -H "apikey: $PARLEY_API_KEY" | jq -r .data.publicKey)
  curl -X POST ${webPush.endpoint}/subscriptions -d "{\\"applicationServerKey\\": \\"$KEY\\"}"

Webhooks of your own, those of push with up to 100 notifications in one request:

${own('push', '"batchSize": 100,')}
${own('email', '"useStoredEmailID": true,')}
${own('sms', '"useStoredPhNo": true,')}

They take what is signed only, once they know the secret: curl -X POST ${custom.endpoint}/secret -d '{"secret": "whsec_..."}'

Moderation engines: a language model, one for labels of pictures, and an API of one's own, for a list of category custom-api.
They find texts bad that say so (bad, dubious, bad:0.3), and fail at those with slow, down, broken or hangup:

  curl -X PUT $PARLEY_URL/v3/moderation/engines/llm -H "apikey: $PARLEY_API_KEY" -H 'content-type: application/json' \\
    -d '${JSON.stringify(moderation.llm)}'
  curl -X PUT $PARLEY_URL/v3/moderation/engines/labels -H "apikey: $PARLEY_API_KEY" -H 'content-type: application/json' \\
    -d '${JSON.stringify(moderation.labels)}'
  curl -X POST $PARLEY_URL/v3/moderation/keywords -H "apikey: $PARLEY_API_KEY" -H 'content-type: application/json' \\
    -d '${JSON.stringify({ id: 'my-engine', name: 'My engine', category: 'custom-api', ...moderation.customApi })}'

What comes is printed here, one line each, and shown in the console, under Notifications. /journal has all that came to FCM, the browsers, Twilio, SendGrid, the webhooks and
the engines, such as ${twilio.endpoint}/journal; e-mails of the mail server are files in ${folder}.
`)
const show = (line: string) => {
  console.log(line)
  journal.add(line)
}
showAsItComes({ fcm, apns, webPush, twilio, sendGrid, smtp, custom, moderation }, show, write)
