import { readFile } from 'node:fs/promises'
import { defaultAppSettings } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig, retentionWarning } from '../src/config/index.ts'
import { outboundWarning } from '../src/config/outbound.ts'
import { describeUnknown, findUnknownSettings } from '../src/config/unknown.ts'

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('names that are no settings', () => {
  it('are found in the file, all of them, and in the environment if they are near to one', () => {
    const environment = { PATH: '/bin', PWD: '/', HOME: '/root', HOSTNAME: 'h', USER: 'u', LANG: 'C', NODE_OPTIONS: '' }
    expect(findUnknownSettings(environment)).toEqual([])
    expect(findUnknownSettings({ ...environment, PORT: '1', REDIS_PREFIX: 'x', MEDIA_S3_REGION: 'y' })).toEqual([])
    expect(findUnknownSettings({ ...environment, LOG_LEVL: 'warn', REDIS_URI: 'x', log_level: 'info' })).toEqual([
      { name: 'LOG_LEVL', nearest: 'LOG_LEVEL' },
      { name: 'REDIS_URI', nearest: 'REDIS_URL' },
      { name: 'log_level', nearest: 'LOG_LEVEL' },
    ])
    const file = ['DATABSE_URL', 'SOCKETS_PER_USERS', 'COLOUR', 'PORT', 'PARLEY_URL']
    const both = { ...environment, DATABSE_URL: 'x', COLOUR: 'red', PORT: '1' }
    expect(findUnknownSettings(both, file).map(describeUnknown)).toEqual([
      'DATABSE_URL is not a setting of this service; did you mean DATABASE_URL?',
      'SOCKETS_PER_USERS is not a setting of this service; did you mean SOCKETS_PER_USER?',
      'COLOUR is not a setting of this service',
    ])
  })

  it('are none of those that docs/configuration.md names', async () => {
    const text = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
    const rows = text.split('\n').filter((line) => line.startsWith('| `'))
    const names = rows.flatMap((line) =>
      [...(line.split('|')[1] ?? '').matchAll(/`([A-Z0-9_]{3,})`/g)].map(([, name]) => name as string),
    )
    expect(names).toContain('MEDIA_S3_BUCKET')
    expect(findUnknownSettings({}, names)).toEqual([])
  })

  it('are none of those of commands that read the same file', () => {
    const names = ['PARLEY_URL', 'PARLEY_EXPORT_PASSPHRASE', 'MOVE_IN_API_KEY', 'MOVE_IN_API_KEY_FILE']
    expect(findUnknownSettings({}, names)).toEqual([])
  })
})

describe('the OpenID Connect provider', () => {
  const all = { OIDC_ISSUER: 'https://login.example.com/a', OIDC_CLIENT_ID: 'parley', OIDC_CLIENT_SECRET: 's' }

  it('is set by three settings together', () => {
    expect(readConfig(all).oidc).toEqual({ issuer: all.OIDC_ISSUER, clientId: 'parley', clientSecret: 's' })
    const { OIDC_CLIENT_SECRET: _, ...without } = all
    expect(problemsOf(without)).toEqual([expect.stringMatching(/^OIDC_CLIENT_SECRET is missing/)])
  })

  it('is reached over TLS, or on this machine', () => {
    for (const issuer of [
      'http://localhost:9/realms/a',
      'http://127.0.0.1',
      'http://[::1]:9',
      'http://sso.localhost',
    ]) {
      expect(problemsOf({ ...all, OIDC_ISSUER: issuer }), issuer).toEqual([])
    }
    for (const issuer of [
      ...[
        'http://login.example.com',
        'http://localhost.example.com',
        'login.example.com',
        'https://a?b',
        'https://a#b',
      ],
      ...['https://me:secret@login.example.com', 'ftp://localhost'],
    ]) {
      expect(problemsOf({ ...all, OIDC_ISSUER: issuer }), issuer).toEqual([
        expect.stringMatching(/^OIDC_ISSUER must be/),
      ])
    }
  })
})

describe('the configuration', () => {
  it('has the documented defaults', () => {
    expect(readConfig({})).toEqual({
      keepsClientAddresses: true,
      uploadStallSeconds: 30,
      mediaMinFreeBytes: 1000 * 1024 * 1024,
      backup: { destination: undefined, schedule: undefined, keep: 7, passphrase: undefined, pace: 'auto' },
      auditRetentionDays: 365,
      host: '127.0.0.1',
      port: 8080,
      metricsPort: undefined,
      databaseUrl: undefined,
      dataDir: undefined,
      appId: 'parley',
      region: 'us',
      apiKey: undefined,
      authKey: undefined,
      masterKey: undefined,
      publicUrl: undefined,
      tls: undefined,
      requireHttps: false,
      trustProxy: false,
      logLevel: 'info',
      corsOrigins: ['*'],
      rateLimits: {
        address: { perMinute: 60_000, burst: 10_000, isSet: false },
        user: { perMinute: 3_000, burst: 500, isSet: false },
        operator: { perMinute: 1_200, burst: 200, isSet: false },
        core: { perMinute: 600_000, burst: 600_000, isSet: false },
        standard: { perMinute: 1_200_000, burst: 1_200_000, isSet: false },
        sendPerUser: { perMinute: 600, burst: 100, isSet: false },
        markUnreadPerUser: { perMinute: 120, burst: 100, isSet: false },
      },
      importMaxRecords: 1000,
      appDefaults: defaultAppSettings,
      listTimeoutSeconds: 5,
      searchTimeoutSeconds: 5,
      eventsRetentionDays: 7,
      webhooks: {
        retrySchedule: [10, 30, 300, 1800, 7200, 18_000, 36_000, 36_000],
        disableAfterHours: 120,
      },
      outbound: { allowPrivate: false, allow: [] },
      notifications: {
        fcm: 'https://fcm.googleapis.com',
        fcmToken: 'https://oauth2.googleapis.com/token',
        apns: undefined,
        apnsCa: undefined,
        webPush: {
          hosts: [
            'fcm.googleapis.com',
            'jmt17.google.com',
            '*.push.services.mozilla.com',
            '*.push.apple.com',
            '*.notify.windows.com',
          ],
          subject: 'mailto:web-push@example.com',
        },
        sendGrid: 'https://api.sendgrid.com',
        twilio: 'https://api.twilio.com',
        smtp: undefined,
      },
      mailReplies: undefined,
      sockets: {
        authTimeoutMs: 10_000,
        idleTimeoutMs: 60_000,
        bufferBytes: 1_048_576,
        frameBytes: 16_384,
        framesPerSecond: 30,
        perUser: 20,
        loginsPerSecond: 40,
        drainMs: 3_000,
      },
      demo: true,
      docs: true,
      console: true,
      firstOwner: undefined,
      adminAllow: undefined,
      adminPort: undefined,
      workers: 1,
      redis: undefined,
    })
  })

  it('of several processes needs a Redis, and names what is wrong with it', () => {
    const url = 'redis://:secret@cache.example.com:6379/2'
    expect(readConfig({ WORKERS: '4', REDIS_URL: url })).toMatchObject({
      workers: 4,
      redis: { url, prefix: 'parley' },
    })
    expect(readConfig({ REDIS_URL: 'rediss://cache', REDIS_PREFIX: 'chat-2' })).toMatchObject({
      workers: 1,
      redis: { url: 'rediss://cache', prefix: 'chat-2' },
    })
    expect(problemsOf({ WORKERS: '2' })).toEqual([expect.stringMatching(/^REDIS_URL is missing: with WORKERS=2 /)])
    for (const workers of ['0', '-1', '1.5', 'all', '1000']) {
      expect(problemsOf({ WORKERS: workers, REDIS_URL: url })).toEqual([expect.stringContaining('WORKERS must be')])
    }
    for (const wrong of ['localhost:6379', 'http://cache', 'redis://', '/run/redis.sock']) {
      expect(problemsOf({ REDIS_URL: wrong })).toEqual([expect.stringContaining('REDIS_URL must start with')])
    }
    // Such a URL holds a password.
    expect(problemsOf({ REDIS_URL: 'http://:secret@cache' }).join()).not.toContain('secret')
    expect(problemsOf({ REDIS_URL: url, REDIS_PREFIX: 'a b' })).toEqual([expect.stringContaining('REDIS_PREFIX')])
  })

  it('says what answers name, without a path', () => {
    expect(readConfig({ PUBLIC_URL: 'https://Chat.example.com:443/' }).publicUrl).toBe('https://chat.example.com')
    expect(readConfig({ PUBLIC_URL: 'http://chat:8080' }).publicUrl).toBe('http://chat:8080')
    for (const wrong of ['chat.example.com', 'https://', 'https://a b', 'https://a/chat', 'https://me@a', 'ftp://a']) {
      expect(problemsOf({ PUBLIC_URL: wrong }), wrong).toEqual([expect.stringContaining('PUBLIC_URL must be')])
    }
  })

  it('names whom push services turn to, by default the service itself', () => {
    const subjectOf = (environment: Record<string, string>) => readConfig(environment).notifications.webPush.subject
    expect(subjectOf({ PUBLIC_URL: 'https://chat.example.com' })).toBe('https://chat.example.com')
    expect(subjectOf({ PUBLIC_URL: 'http://chat:8080' })).toBe('mailto:web-push@example.com')
    expect(subjectOf({ WEB_PUSH_SUBJECT: 'mailto:me@example.com' })).toBe('mailto:me@example.com')
  })

  it('says what is wrong with the mailbox for replies, and never shows its secret', () => {
    const problemsOfBoth = (address: string, secret: string) =>
      problemsOf({ MAIL_REPLY_ADDRESS: address, MAIL_REPLY_SECRET: secret })
    const both = ['MAIL_REPLY_ADDRESS and MAIL_REPLY_SECRET belong together: set both']
    expect(problemsOfBoth('reply@example.com', '')).toEqual(both)
    expect(problemsOfBoth('', 'a-secret-of-the-mail-server')).toEqual(both)
    expect(problemsOfBoth('reply', 'a-secret-of-the-mail-server')).toEqual([
      'MAIL_REPLY_ADDRESS must be an address such as reply@example.com; it is "reply"',
    ])
    expect(problemsOfBoth('reply+chat@example.com', 'too short')).toEqual([
      'MAIL_REPLY_ADDRESS must have no + before the @: what follows it is the token of a reply',
      'MAIL_REPLY_SECRET must be at least 20 characters without blanks',
    ])
    expect(problemsOfBoth(`${'r'.repeat(25)}@example.com`, 'a-secret-of-the-mail-server')).toEqual([
      'MAIL_REPLY_ADDRESS must have at most 24 characters before the @, since a token is added',
    ])
  })

  it('has another port for the metrics', () => {
    expect(readConfig({ METRICS_PORT: '9100' }).metricsPort).toBe(9100)
    for (const wrong of ['0', '99999', 'other']) {
      expect(problemsOf({ METRICS_PORT: wrong })).toEqual([expect.stringContaining('METRICS_PORT must be')])
    }
    expect(problemsOf({ METRICS_PORT: '8080' })).toEqual(['METRICS_PORT must differ from PORT'])
  })

  it('names what is wrong with the defaults of apps', () => {
    expect(problemsOf({ APP_DEFAULTS: 'maxBots=many' })).toEqual([
      expect.stringMatching(/^APP_DEFAULTS: maxBots must be/),
    ])
    expect(problemsOf({ APP_DEFAULTS: 'bots=3' })).toEqual([
      expect.stringMatching(/^APP_DEFAULTS: bots is not a setting/),
    ])
    expect(problemsOf({ APP_DEFAULTS: 'authKeys=none' })).toEqual([expect.stringContaining('full, createOnly')])
    for (const [defaults, bounds] of [
      ['fileLinkSeconds=1', '60 to 604800'],
      ['fileLinkSeconds=604801', '60 to 604800'],
      ['smsMaxSegments=0', '1 to 10'],
      ['maxBots=1000000001', '0 to 1000000000'],
      ['timezone=+01:00', 'an IANA time zone'],
    ] as const) {
      expect(problemsOf({ APP_DEFAULTS: defaults }), defaults).toEqual([expect.stringContaining(bounds)])
    }
    expect(readConfig({ PARLEY_AUTH_KEY: 'off' }).authKey).toBe('off')
  })

  it('takes as defaults of apps what the API takes, and leaves out those without a value', () => {
    const { appDefaults } = readConfig({ APP_DEFAULTS: 'maxBots=,authKeys=,maxRoles=1000000000,fileLinkSeconds=60' })
    expect(appDefaults).toMatchObject({
      ...{ maxBots: 25, authKeys: 'full', maxRoles: 1_000_000_000, fileLinkSeconds: 60 },
    })
  })

  it('reads every variable', () => {
    const config = readConfig({
      HOST: '0.0.0.0',
      PORT: '9000',
      DATABASE_URL: 'postgresql://u:p@db/chat',
      DATA_DIR: '/srv/parley',
      PARLEY_APP_ID: 'Shop-1',
      PARLEY_REGION: 'EU',
      PARLEY_API_KEY: 'AB'.repeat(20),
      PARLEY_AUTH_KEY: 'cd'.repeat(20),
      PARLEY_MASTER_KEY: 'EF'.repeat(32),
      TLS_CERT_FILE: '/etc/cert.pem',
      TLS_KEY_FILE: '/etc/key.pem',
      REQUIRE_HTTPS: 'yes',
      TRUST_PROXY: 'loopback, 10.0.0.0/8,fd00::/8, 192.0.2.7',
      LOG_LEVEL: 'WARN',
      CORS_ORIGINS: 'https://Chat.example.com/, http://localhost:5173,https://a.example.com:443',
      RATE_LIMITS: 'core=600,sendPerUser=30,user=0,operator=0,address=0,standard=0,markUnreadPerUser=0',
      IMPORT_MAX_RECORDS: '5000',
      APP_DEFAULTS: 'maxBots=0, addMembers=friends',
      LIST_TIMEOUT_SECONDS: '2.5',
      SEARCH_TIMEOUT_SECONDS: '10',
      EVENTS_RETENTION_DAYS: '30',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      OUTBOUND_ALLOW: 'Hooks.Internal.:9000, 10.1.0.0/16,10.0.0.5:80',
      WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.5, 10',
      WEBHOOK_DISABLE_AFTER_HOURS: '48',
      FCM_ENDPOINT: 'http://127.0.0.1:9090/',
      FCM_TOKEN_ENDPOINT: 'http://127.0.0.1:9090/token',
      ...{ SENDGRID_ENDPOINT: 'https://api.eu.sendgrid.com', TWILIO_ENDPOINT: 'http://127.0.0.1:9093/' },
      ...{ SMTP_URL: 'smtps://chat:secret@mail.example.com', MAIL_FROM: 'Chat <chat@example.com>' },
      APNS_ENDPOINT: 'https://push.example.com',
      WEB_PUSH_HOSTS: 'Push.example.com, *.example.org,127.0.0.1:9092',
      WEB_PUSH_SUBJECT: 'https://chat.example.com',
      MAIL_REPLY_ADDRESS: 'reply@Mail.example.com',
      MAIL_REPLY_SECRET: 'a-secret-of-the-mail-server',
      SOCKET_AUTH_SECONDS: '5',
      SOCKET_IDLE_SECONDS: '30',
      SOCKET_BUFFER_BYTES: '65536',
      SOCKET_FRAME_BYTES: '4096',
      SOCKET_FRAMES_PER_SECOND: '10',
      SOCKETS_PER_USER: '3',
      SOCKET_LOGINS_PER_SECOND: '7',
      SOCKET_DRAIN_SECONDS: '0.5',
      WORKERS: '3',
      REDIS_URL: 'redis://cache',
      REDIS_PREFIX: 'shop',
      KEEP_CLIENT_ADDRESSES: 'false',
      BACKUP_TO: '/backup',
      BACKUP_SCHEDULE: '30 3 * * *',
      BACKUP_KEEP: '3',
      BACKUP_PASSPHRASE: 'correct horse battery',
      BACKUP_PACE: 'gentle',
      MEDIA_MIN_FREE_MB: '0',
      UPLOAD_STALL_SECONDS: '60',
      MEDIA_STAGING_DIR: '/var/tmp/parley',
      AUDIT_RETENTION_DAYS: '90',
      CONSOLE: 'off',
      ADMIN_PORT: '9200',
      ADMIN_ALLOW: '10.0.0.0/8, loopback',
      ...{ PARLEY_OPERATOR_EMAIL: 'root@example.com', PARLEY_OPERATOR_PASSWORD: 'a long password' },
    })
    expect(config).toEqual({
      keepsClientAddresses: false,
      backup: {
        ...{ destination: { kind: 'folder', folder: '/backup' }, schedule: '30 3 * * *', keep: 3 },
        ...{ passphrase: 'correct horse battery', pace: 'gentle' },
      },
      mediaMinFreeBytes: 0,
      uploadStallSeconds: 60,
      mediaStagingDir: '/var/tmp/parley',
      auditRetentionDays: 90,
      workers: 3,
      redis: { url: 'redis://cache', prefix: 'shop' },
      host: '0.0.0.0',
      port: 9000,
      databaseUrl: 'postgresql://u:p@db/chat',
      dataDir: '/srv/parley',
      appId: 'shop-1',
      region: 'eu',
      apiKey: 'ab'.repeat(20),
      authKey: 'cd'.repeat(20),
      masterKey: 'ef'.repeat(32),
      tls: { certFile: '/etc/cert.pem', keyFile: '/etc/key.pem' },
      requireHttps: true,
      trustProxy: ['loopback', '10.0.0.0/8', 'fd00::/8', '192.0.2.7'],
      logLevel: 'warn',
      corsOrigins: ['https://chat.example.com', 'http://localhost:5173', 'https://a.example.com'],
      rateLimits: {
        core: { perMinute: 600, burst: 600, isSet: true },
        sendPerUser: { perMinute: 30, burst: 30, isSet: true },
      },
      importMaxRecords: 5000,
      appDefaults: { ...defaultAppSettings, authKeys: 'createOnly', maxBots: 0, addMembers: 'friends' },
      listTimeoutSeconds: 2.5,
      searchTimeoutSeconds: 10,
      eventsRetentionDays: 30,
      webhooks: { retrySchedule: [0.5, 10], disableAfterHours: 48 },
      outbound: {
        allowPrivate: true,
        allow: [{ host: 'hooks.internal', port: 9000 }, { block: '10.1.0.0/16' }, { block: '10.0.0.5/32', port: 80 }],
      },
      notifications: {
        ...{ fcm: 'http://127.0.0.1:9090', fcmToken: 'http://127.0.0.1:9090/token' },
        ...{ apns: 'https://push.example.com', apnsCa: undefined },
        webPush: {
          hosts: ['push.example.com', '*.example.org', '127.0.0.1:9092'],
          subject: 'https://chat.example.com',
        },
        ...{ sendGrid: 'https://api.eu.sendgrid.com', twilio: 'http://127.0.0.1:9093' },
        smtp: { url: 'smtps://chat:secret@mail.example.com', from: 'Chat <chat@example.com>' },
      },
      mailReplies: { address: 'reply@Mail.example.com', secret: 'a-secret-of-the-mail-server' },
      sockets: {
        authTimeoutMs: 5_000,
        idleTimeoutMs: 30_000,
        bufferBytes: 65_536,
        frameBytes: 4_096,
        framesPerSecond: 10,
        perUser: 3,
        loginsPerSecond: 7,
        drainMs: 500,
      },
      demo: false,
      docs: true,
      console: false,
      adminPort: 9200,
      adminAllow: ['10.0.0.0/8', 'loopback'],
      firstOwner: { email: 'root@example.com', password: 'a long password' },
    })
  })

  it('takes a first owner with an address and a password that is long enough', () => {
    expect(problemsOf({ PARLEY_OPERATOR_EMAIL: 'root@example.com', PARLEY_OPERATOR_PASSWORD: 'short' })).toEqual([
      'PARLEY_OPERATOR_PASSWORD must have 12 to 200 characters',
    ])
    expect(problemsOf({ PARLEY_OPERATOR_PASSWORD: 'a long password' })).toEqual([
      'PARLEY_OPERATOR_EMAIL must be an e-mail address',
    ])
  })

  it('takes networks and a port for operators', () => {
    expect(problemsOf({ ADMIN_ALLOW: 'everywhere' })).toEqual([expect.stringContaining('ADMIN_ALLOW must be')])
    expect(problemsOf({ ADMIN_PORT: '8080' })).toEqual(['ADMIN_PORT must differ from PORT and METRICS_PORT'])
    expect(problemsOf({ ADMIN_PORT: 'x' })).toEqual([expect.stringContaining('ADMIN_PORT must be')])
  })

  it('serves the reference page in development only, unless told otherwise', () => {
    expect(readConfig({ HOST: '0.0.0.0' }).docs).toBe(true)
    expect(readConfig({ NODE_ENV: 'production' }).docs).toBe(false)
    expect(readConfig({ NODE_ENV: 'production', DOCS: 'true' }).docs).toBe(true)
    expect(readConfig({ DOCS: 'false' }).docs).toBe(false)
  })

  it('serves the demo in development only, unless told otherwise', () => {
    expect(readConfig({ HOST: '::1' }).demo).toBe(true)
    expect(readConfig({ HOST: '0.0.0.0' }).demo).toBe(false)
    expect(readConfig({ NODE_ENV: 'production' }).demo).toBe(false)
    expect(readConfig({ NODE_ENV: 'production', DEMO: 'true' }).demo).toBe(true)
    expect(readConfig({ DEMO: 'false' }).demo).toBe(false)
  })

  it('is warned of where apps may have everything called', () => {
    expect(outboundWarning(readConfig({}).outbound)).toBeUndefined()
    expect(outboundWarning(readConfig({ OUTBOUND_ALLOW: '10.0.0.0/8' }).outbound)).toBeUndefined()
    expect(outboundWarning(readConfig({ WEBHOOK_ALLOW_PRIVATE: 'true' }).outbound)).toMatch('OUTBOUND_ALLOW')
  })

  it('is warned of where deliveries are removed before their last attempt', () => {
    expect(retentionWarning(readConfig({}))).toBeUndefined()
    expect(retentionWarning(readConfig({ EVENTS_RETENTION_DAYS: '2' }))).toBeUndefined()
    expect(retentionWarning(readConfig({ EVENTS_RETENTION_DAYS: '1' }))).toMatch('27.6 hours')
    const shorter = { EVENTS_RETENTION_DAYS: '1', WEBHOOK_RETRY_SCHEDULE_SECONDS: '10,3600' }
    expect(retentionWarning(readConfig(shorter))).toBeUndefined()
  })

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true)
  })

  it('takes empty and blank variables as absent', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: ' ', TRUST_PROXY: '', CORS_ORIGINS: '', TLS: '' })).toEqual(
      readConfig({}),
    )
  })

  it.each([
    ['PORT', 'eighty'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['DATABASE_URL', 'mysql://db/chat'],
    ['PARLEY_APP_ID', 'my shop'],
    ['PARLEY_APP_ID', 'x'.repeat(101)],
    ['PARLEY_REGION', 'mars'],
    ['PARLEY_API_KEY', 'ab'.repeat(19)],
    ['PARLEY_API_KEY', 'z'.repeat(40)],
    ['PARLEY_AUTH_KEY', 'ab'],
    ['PARLEY_MASTER_KEY', 'ab'.repeat(20)],
    ['TLS', 'on'],
    ['REQUIRE_HTTPS', 'maybe'],
    ['TRUST_PROXY', 'proxy.example.com'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '10.0.0.0/8/8'],
    ['TRUST_PROXY', '::1/129'],
    ['TRUST_PROXY', ','],
    ['LOG_LEVEL', 'loud'],
    ['CORS_ORIGINS', 'chat.example.com'],
    ['RATE_LIMITS', 'core=many'],
    ['RATE_LIMITS', 'nonsense=5'],
    ['RATE_LIMITS', 'core=-1'],
    ['IMPORT_MAX_RECORDS', '0'],
    ['IMPORT_MAX_RECORDS', 'many'],
    ['IMPORT_MAX_RECORDS', '100001'],
    ['EVENTS_RETENTION_DAYS', '0'],
    ['EVENTS_RETENTION_DAYS', 'week'],
    ['EVENTS_RETENTION_DAYS', '3651'],
    ['WEBHOOK_ALLOW_PRIVATE', 'sometimes'],
    ['OUTBOUND_ALLOW', 'http://hooks.internal'],
    ['OUTBOUND_ALLOW', 'hooks.internal:0'],
    ['OUTBOUND_ALLOW', 'hooks.internal:65536'],
    ['OUTBOUND_ALLOW', 'hooks.internal:http'],
    ['OUTBOUND_ALLOW', '*.internal'],
    ['OUTBOUND_ALLOW', 'hooks.internal/24'],
    ['OUTBOUND_ALLOW', '10.0.0.0/33'],
    ['OUTBOUND_ALLOW', '10.1/16'],
    ['OUTBOUND_ALLOW', '::ffff:10.0.0.0/80'],
    ['OUTBOUND_ALLOW', 'fe80::1%eth0'],
    ['OUTBOUND_ALLOW', '10.0.0.1 10.0.0.2'],
    ['WEBHOOK_RETRY_SCHEDULE_SECONDS', '10,soon'],
    ['WEBHOOK_RETRY_SCHEDULE_SECONDS', ','],
    ['WEBHOOK_RETRY_SCHEDULE_SECONDS', '-1'],
    ['WEBHOOK_DISABLE_AFTER_HOURS', '0'],
    ['FCM_ENDPOINT', 'fcm.googleapis.com'],
    ['TWILIO_ENDPOINT', 'api.twilio.com'],
    ['APNS_ENDPOINT', 'ftp://push.example.com'],
    ['APNS_CA_FILE', '/no/such/file.pem'],
    ['WEB_PUSH_HOSTS', 'https://push.example.com'],
    ['WEB_PUSH_HOSTS', '*'],
    ['WEB_PUSH_HOSTS', 'push.example.com,,'],
    ['WEB_PUSH_SUBJECT', 'admin@example.com'],
    ['WEB_PUSH_SUBJECT', 'http://example.com'],
    ['WEBHOOK_DISABLE_AFTER_HOURS', '1.5'],
    ['SOCKET_DRAIN_SECONDS', '9'],
    ['SOCKET_FRAME_BYTES', '1e9'],
    ['SOCKETS_PER_USER', '0'],
    ['DEMO', 'perhaps'],
    ['CORS_ORIGINS', 'https://chat.example.com/path'],
    ['CORS_ORIGINS', 'https://chat.example.com:99999'],
    ['CORS_ORIGINS', ','],
  ])('is refused with a message that names the variable: %s=%s', (name, value) => {
    const problems = problemsOf({ [name]: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${name} must `))
  })

  it('wants the mail server and the sender together, and repeats no password', () => {
    expect(problemsOf({ SMTP_URL: 'smtp://chat:secret@mail.example.com' })).toEqual([
      'MAIL_FROM is missing: SMTP_URL and MAIL_FROM go together',
    ])
    expect(problemsOf({ MAIL_FROM: 'chat@example.com' })).toEqual([
      'SMTP_URL is missing: SMTP_URL and MAIL_FROM go together',
    ])
    const wrong = problemsOf({ SMTP_URL: 'chat:secret@mail.example.com', MAIL_FROM: 'Chat\nBcc: x@example.com' })
    expect(wrong).toEqual([
      expect.stringMatching(/^SMTP_URL must be .*, such as /),
      expect.stringMatching(/^MAIL_FROM must be an address/),
    ])
    expect(wrong.join()).not.toContain('chat:secret')
  })

  it('names the missing half of a certificate and its key', () => {
    expect(problemsOf({ TLS_CERT_FILE: '/c.pem' })).toEqual([expect.stringContaining('TLS_KEY_FILE is missing')])
    expect(problemsOf({ TLS_KEY_FILE: '/k.pem' })).toEqual([expect.stringContaining('TLS_CERT_FILE is missing')])
  })

  it('names what is missing of a bucket, and never shows its secret', () => {
    const bucket = { MEDIA_S3_ENDPOINT: 'https://s3.example.com', MEDIA_S3_BUCKET: 'b', MEDIA_S3_ACCESS_KEY_ID: 'id' }
    expect(problemsOf(bucket)).toEqual([expect.stringContaining('MEDIA_S3_SECRET_ACCESS_KEY is missing')])
    const wrong = problemsOf({ ...bucket, MEDIA_S3_ENDPOINT: 's3', MEDIA_S3_SECRET_ACCESS_KEY: 'hush' })
    expect(wrong).toEqual([expect.stringMatching(/^MEDIA_S3_ENDPOINT must /)])
    expect(wrong.join()).not.toContain('hush')
  })

  it('does not take one key for both scopes', () => {
    const key = 'ab'.repeat(20)
    expect(problemsOf({ PARLEY_API_KEY: key, PARLEY_AUTH_KEY: key.toUpperCase() })).toEqual([
      expect.stringContaining('PARLEY_AUTH_KEY'),
    ])
  })

  it('tells all that is wrong at once, and never shows a key', () => {
    const secret = 'deadbeef'
    const problems = problemsOf({ PORT: 'x', LOG_LEVEL: 'y', PARLEY_API_KEY: secret, PARLEY_MASTER_KEY: secret })
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'PORT',
      'PARLEY_API_KEY',
      'PARLEY_MASTER_KEY',
      'LOG_LEVEL',
    ])
    expect(problems.join()).not.toContain(secret)
  })
})

describe('backups', () => {
  it('go to a folder or a bucket, which is reached as that of the files unless something else is said', () => {
    expect(readConfig({}).backup).toEqual({
      ...{ destination: undefined, schedule: undefined, keep: 7 },
      ...{ passphrase: undefined, pace: 'auto' },
    })
    expect(readConfig({ BACKUP_TO: '/backup' }).backup.destination).toEqual({ kind: 'folder', folder: '/backup' })
    const media = {
      ...{ MEDIA_S3_ENDPOINT: 'https://s3.example.com', MEDIA_S3_BUCKET: 'media', MEDIA_S3_REGION: 'eu-central-1' },
      ...{ MEDIA_S3_ACCESS_KEY_ID: 'id', MEDIA_S3_SECRET_ACCESS_KEY: 'secret' },
    }
    const { destination } = readConfig({
      ...media,
      BACKUP_TO: 's3://backups/of/chat/',
      BACKUP_S3_ACCESS_KEY_ID: 'own',
    }).backup
    const settings = { endpoint: 'https://s3.example.com', region: 'eu-central-1', secretAccessKey: 'secret' }
    expect(destination).toEqual({
      ...{ kind: 'bucket', prefix: 'of/chat/' },
      settings: { ...settings, bucket: 'backups', accessKeyId: 'own' },
    })
    expect(readConfig({ ...media, BACKUP_TO: 's3://backups' }).backup.destination).toMatchObject({ prefix: '' })
  })

  it('are refused where they could not be made', () => {
    expect(problemsOf({ BACKUP_TO: 's3://backups' })).toEqual([expect.stringContaining('BACKUP_S3_ENDPOINT')])
    expect(problemsOf({ BACKUP_TO: 's3:/backups' })).toEqual([expect.stringMatching(/^BACKUP_TO must be a folder/)])
    expect(problemsOf({ BACKUP_SCHEDULE: '0 3 * * *' })).toEqual([expect.stringMatching(/^BACKUP_TO is missing/)])
    for (const schedule of ['daily', '0 3 * *', '0 0 3 * * *', '61 3 * * *', '0 3 31 2 *']) {
      expect(problemsOf({ BACKUP_TO: '/b', BACKUP_SCHEDULE: schedule }), schedule).toEqual([
        expect.stringMatching(/^BACKUP_SCHEDULE must be five fields/),
      ])
    }
    expect(problemsOf({ BACKUP_PACE: 'slow' })).toEqual([expect.stringMatching(/^BACKUP_PACE must be auto/)])
    expect(problemsOf({ BACKUP_KEEP: '0' })).toEqual([expect.stringMatching(/^BACKUP_KEEP must/)])
    expect(problemsOf({ BACKUP_PASSPHRASE: 'short' })).toEqual([
      expect.stringMatching(/^BACKUP_PASSPHRASE must have 12/),
    ])
  })
})
