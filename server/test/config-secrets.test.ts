import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseImportOptions } from '../src/cli/import/options.ts'
import { parseMoveOptions } from '../src/cli/move-in/options.ts'
import { ConfigError, readConfig } from '../src/config/index.ts'
import { secretSettings } from '../src/config/secrets.ts'
import { findUnknownSettings } from '../src/config/unknown.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'parley-secrets-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function fileWith(content: string): string {
  const file = path.join(folder, `secret-${files++}`)
  writeFileSync(file, content)
  return file
}

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

/** A value that each takes, and the settings that it needs beside. */
const samples: Record<string, { value: string; beside?: Record<string, string> }> = {
  DATABASE_URL: { value: 'postgres://parley:secret@db/parley' },
  REDIS_URL: { value: 'redis://:secret@cache' },
  PARLEY_API_KEY: { value: 'a1'.repeat(20) },
  PARLEY_AUTH_KEY: { value: 'b2'.repeat(20) },
  PARLEY_MASTER_KEY: { value: 'c3'.repeat(32) },
  PARLEY_OPERATOR_PASSWORD: { value: 'a long password', beside: { PARLEY_OPERATOR_EMAIL: 'root@example.com' } },
  OIDC_CLIENT_SECRET: {
    value: 's3cret',
    beside: { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'parley' },
  },
  MEDIA_S3_ACCESS_KEY_ID: { value: 'KEYID', beside: bucket('MEDIA_S3_SECRET_ACCESS_KEY') },
  MEDIA_S3_SECRET_ACCESS_KEY: { value: 'a/secret+key', beside: bucket('MEDIA_S3_ACCESS_KEY_ID') },
  BACKUP_S3_ACCESS_KEY_ID: { value: 'KEYID', beside: backups('BACKUP_S3_SECRET_ACCESS_KEY') },
  BACKUP_S3_SECRET_ACCESS_KEY: { value: 'a/secret+key', beside: backups('BACKUP_S3_ACCESS_KEY_ID') },
  BACKUP_PASSPHRASE: { value: 'correct horse battery' },
  MAIL_REPLY_SECRET: { value: 'a-secret-of-the-mail-server', beside: { MAIL_REPLY_ADDRESS: 'reply@example.com' } },
  SMTP_URL: { value: 'smtps://chat:secret@mail.example.com', beside: { MAIL_FROM: 'chat@example.com' } },
  OTEL_EXPORTER_OTLP_HEADERS: {
    value: 'authorization=Bearer%20secret',
    beside: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' },
  },
}

function bucket(other: string): Record<string, string> {
  return { MEDIA_S3_ENDPOINT: 'https://s3.example.com', MEDIA_S3_BUCKET: 'chat', [other]: 'other' }
}

function backups(other: string): Record<string, string> {
  return { BACKUP_TO: 's3://backups/chat', BACKUP_S3_ENDPOINT: 'https://s3.example.com', [other]: 'other' }
}

describe('a secret in a file', () => {
  it('is read like one in the environment, without the line end of an editor', () => {
    expect(Object.keys(samples).sort()).toEqual([...secretSettings].sort())
    for (const [name, { value, beside = {} }] of Object.entries(samples)) {
      const given = readConfig({ ...beside, [name]: value })
      for (const content of [value, `${value}\n`, `${value}\r\n`, `\n ${value} \n`]) {
        expect(readConfig({ ...beside, [`${name}_FILE`]: fileWith(content) }), name).toEqual(given)
      }
    }
  })

  it('is one setting: both at once are refused, an empty one of them counts as absent', () => {
    const [key, file] = ['a1'.repeat(20), fileWith('b2'.repeat(20))]
    expect(problemsOf({ PARLEY_API_KEY: key, PARLEY_API_KEY_FILE: file })).toEqual([
      'PARLEY_API_KEY and PARLEY_API_KEY_FILE are both set: set one of them',
    ])
    expect(readConfig({ PARLEY_API_KEY: key, PARLEY_API_KEY_FILE: ' ' }).apiKey).toBe(key)
    expect(readConfig({ PARLEY_API_KEY: '', PARLEY_API_KEY_FILE: file }).apiKey).toBe('b2'.repeat(20))
  })

  it('keeps the service from starting when its file is missing, empty, no file, or something else', () => {
    const missing = path.join(folder, 'nothing')
    const directory = path.join(folder, 'folder')
    mkdirSync(directory)
    const [empty, large] = [fileWith(' \n'), fileWith('x'.repeat(65_537))]
    for (const [file, flaw] of [
      [missing, 'cannot be read (ENOENT)'],
      [directory, 'cannot be read (EISDIR)'],
      [empty, 'is empty'],
      [large, 'has more than 65536 bytes'],
    ] as const) {
      for (const name of ['DATABASE_URL', 'PARLEY_MASTER_KEY']) {
        expect(problemsOf({ [`${name}_FILE`]: file })).toEqual([
          `${name}_FILE must be a file with the secret; ${file} ${flaw}`,
        ])
      }
    }
  })

  it('is judged like any other, and never shown', () => {
    for (const [name, { beside = {} }] of Object.entries(samples)) {
      const problems = problemsOf({ ...beside, [`${name}_FILE`]: fileWith('hush hush') })
      expect(problems.join('\n'), name).not.toContain('hush')
    }
    expect(problemsOf({ PARLEY_MASTER_KEY_FILE: fileWith('short') })).toEqual([
      expect.stringMatching(/^PARLEY_MASTER_KEY must be 64 hexadecimal characters/),
    ])
    const both = { PARLEY_API_KEY: 'a1'.repeat(20), PARLEY_AUTH_KEY_FILE: fileWith('A1'.repeat(20)) }
    expect(problemsOf(both)).toEqual(['PARLEY_AUTH_KEY must differ from PARLEY_API_KEY'])
  })

  it('is a known setting, and exists for no other', () => {
    const names = secretSettings.map((name) => `${name}_FILE`)
    expect(findUnknownSettings({}, names)).toEqual([])
    expect(findUnknownSettings({}, ['PORT_FILE', 'MAIL_FROM_FILE']).map(({ name }) => name)).toEqual([
      'PORT_FILE',
      'MAIL_FROM_FILE',
    ])
    expect(findUnknownSettings({ PARLEY_MASTERKEY_FILE: '/run/secrets/key' })).toEqual([
      { name: 'PARLEY_MASTERKEY_FILE', nearest: 'PARLEY_MASTER_KEY_FILE' },
    ])
  })

  it('is listed in docs/configuration.md', async () => {
    const text = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
    const section = /\n## Secrets in files\n(.*?)\n## /s.exec(text)?.[1] ?? ''
    const listed = [...section.matchAll(/^- (.*)$/gm)].flatMap(([, line = '']) => [...line.matchAll(/`([A-Z0-9_]+)`/g)])
    expect(listed.map(([, name]) => name).sort()).toEqual([...secretSettings].sort())
  })

  it('is taken by the move, too: the key of the app that is moved', () => {
    const file = fileWith('its-key\n')
    const args = ['--from', 'http://old.example.com', '--into', 'folder']
    expect(parseMoveOptions(args, { MOVE_IN_API_KEY_FILE: file })).toMatchObject({ apiKey: 'its-key' })
    expect(() => parseMoveOptions(args, { MOVE_IN_API_KEY: 'k', MOVE_IN_API_KEY_FILE: file })).toThrow(/both set/)
  })

  it('is taken by the import, unless the command line has the key', () => {
    const file = fileWith(`${'a1'.repeat(20)}\n`)
    expect(parseImportOptions(['data'], { PARLEY_API_KEY_FILE: file })).toMatchObject({ apiKey: 'a1'.repeat(20) })
    const given = ['data', '--apikey', 'k']
    expect(parseImportOptions(given, { PARLEY_API_KEY_FILE: '/nothing' })).toMatchObject({ apiKey: 'k' })
    expect(() => parseImportOptions(['data'], { PARLEY_API_KEY_FILE: '/nothing' })).toThrow(
      /PARLEY_API_KEY_FILE must be/,
    )
  })
})
