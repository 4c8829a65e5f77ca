import { readFileSync } from 'node:fs'
import { readSmtp, type SmtpSettings } from './smtp.ts'

/** Where providers are reached. Given by the operator, so they are not checked as addresses of apps are. */
export interface NotificationEndpoints {
  readonly fcm: string
  readonly fcmToken: string
  /** Of both modes; absent: Apple's own, by the mode of each provider. */
  readonly apns: string | undefined
  /** Certificates that are trusted there, as PEM; absent: those of the system. */
  readonly apnsCa: string | undefined
  readonly webPush: WebPushSettings
  readonly sendGrid: string
  readonly twilio: string
  /** The operator's own mail server; absent: none. */
  readonly smtp: SmtpSettings | undefined
}

/** Endpoints of Web Push come from front ends: these bound where they may lead. */
export interface WebPushSettings {
  /** Hosts of push services: `push.example.com`, `*.example.com` for every name below it, `127.0.0.1:9092` for one port. */
  readonly hosts: readonly string[]
  /** Whom push services can turn to: `mailto:` or https. */
  readonly subject: string
}

/** Those of Chrome and its relatives, Firefox, Safari and Edge. */
const pushServices = [
  'fcm.googleapis.com',
  'jmt17.google.com',
  '*.push.services.mozilla.com',
  '*.push.apple.com',
  '*.notify.windows.com',
]

/** Reads the addresses of providers; the defaults are the real ones. */
export function readNotificationEndpoints(
  value: (name: string) => string | undefined,
  problems: string[],
): NotificationEndpoints {
  const address = (name: string): string | undefined => {
    const text = value(name)
    if (text === undefined || (/^https?:\/\/[^/\s?#@]+/i.test(text) && URL.canParse(text))) {
      return text?.replace(/\/+$/, '')
    }
    problems.push(`${name} must be an address such as https://push.example.com; it is "${text}"`)
    return undefined
  }
  return {
    fcm: address('FCM_ENDPOINT') ?? 'https://fcm.googleapis.com',
    fcmToken: address('FCM_TOKEN_ENDPOINT') ?? 'https://oauth2.googleapis.com/token',
    apns: address('APNS_ENDPOINT'),
    apnsCa: readFile('APNS_CA_FILE', value('APNS_CA_FILE'), problems),
    webPush: {
      hosts: readHosts(value('WEB_PUSH_HOSTS'), problems),
      subject: readSubject(value('WEB_PUSH_SUBJECT'), value('PUBLIC_URL'), problems),
    },
    sendGrid: address('SENDGRID_ENDPOINT') ?? 'https://api.sendgrid.com',
    twilio: address('TWILIO_ENDPOINT') ?? 'https://api.twilio.com',
    smtp: readSmtp(value('SMTP_URL'), value('MAIL_FROM'), problems),
  }
}

const hostPattern = /^((\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\d{1,5})?$/

function readHosts(text: string | undefined, problems: string[]): readonly string[] {
  if (text === undefined) return pushServices
  const hosts = text
    .toLowerCase()
    .split(',')
    .map((host) => host.trim())
  if (hosts.every((host) => hostPattern.test(host))) return hosts
  problems.push(
    `WEB_PUSH_HOSTS must be hosts such as push.example.com, *.example.com or 127.0.0.1:9092, with commas between; it is "${text}"`,
  )
  return []
}

/** Some push services refuse whoever names nobody, so there is always somebody. */
function readSubject(text: string | undefined, publicUrl: string | undefined, problems: string[]): string {
  if (text === undefined) return publicUrl?.startsWith('https://') ? publicUrl : 'mailto:web-push@example.com'
  if (/^mailto:[^@\s]+@[^@\s]+$/.test(text) || (/^https:\/\/[^\s]+$/.test(text) && URL.canParse(text))) return text
  problems.push(`WEB_PUSH_SUBJECT must be mailto:admin@example.com, or an https address; it is "${text}"`)
  return ''
}

function readFile(name: string, path: string | undefined, problems: string[]): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    problems.push(`${name} must be a file that can be read: ${(error as Error).message}`)
    return undefined
  }
}
