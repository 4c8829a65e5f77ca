import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDigestSet } from '../../src/cli/import/digest.ts'
import { findInputFiles } from '../../src/cli/import/input.ts'
import { parseImportOptions } from '../../src/cli/import/options.ts'
import { measure, openProgress } from '../../src/cli/import/progress.ts'
import { openReport } from '../../src/cli/import/report.ts'
import { collect } from './import-world.ts'

const key = 'a'.repeat(40)

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-import-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

describe('the command line of parley import', () => {
  it('has defaults for all but the folder and the key', () => {
    expect(parseImportOptions(['data'], { PARLEY_API_KEY: key })).toEqual({
      folder: 'data',
      url: 'http://127.0.0.1:8080',
      apiKey: key,
      app: undefined,
      batch: 500,
      concurrency: 4,
      dryRun: false,
      report: undefined,
      insecure: false,
    })
  })

  it('lets options go before the environment', () => {
    const environment = { PARLEY_URL: 'http://one.test', PARLEY_API_KEY: 'one' }
    expect(parseImportOptions(['data'], environment)).toMatchObject({ url: 'http://one.test', apiKey: 'one' })
    const args = ['--url', 'https://two.test/chat/', 'data', '--apikey=two', '--app', 'x', '--batch=1000']
    expect(parseImportOptions([...args, '--concurrency', '64', '--insecure'], environment)).toMatchObject({
      url: 'https://two.test/chat',
      apiKey: 'two',
      app: 'x',
      batch: 1000,
      concurrency: 64,
      insecure: true,
    })
  })

  it.each(['http://chat.test/v3', 'http://chat.test/v3.0/', 'http://chat.test/v3.0/data_import'])(
    'takes the address %s as the API documentation gives it',
    (url) => {
      expect(parseImportOptions(['data', '--url', url], { PARLEY_API_KEY: key })).toMatchObject({
        url: 'http://chat.test',
      })
    },
  )

  it('needs no key to check files', () => {
    expect(parseImportOptions(['data', '--dry-run'], {})).toMatchObject({ dryRun: true, apiKey: undefined })
  })

  it('asks for help in two spellings', () => {
    expect([parseImportOptions(['--help'], {}), parseImportOptions(['-h'], {})]).toEqual(['help', 'help'])
  })

  it.each([
    [[], 'name the folder'],
    [['a', 'b'], 'one folder at a time'],
    [['data'], 'an API key is needed'],
    [['data', '--apikey', ''], 'printable ASCII'],
    [['data', '--apikey', 'a b'], 'printable ASCII'],
    [['data', '--aplkey', key], "Unknown option '--aplkey'"],
    [['data', '--url', 'chat.test', '--apikey', key], 'must start with http'],
    [['data', '--url', 'ftp://chat.test', '--apikey', key], 'must start with http'],
    [['data', '--batch', '1001', '--apikey', key], '--batch must be a number from 1 to 1000'],
    [['data', '--batch', '0x10', '--apikey', key], '--batch must be a number'],
    [['data', '--concurrency', '0', '--apikey', key], '--concurrency must be a number from 1 to 64'],
    [['data', '--dry-run=yes'], 'does not take an argument'],
  ])('refuses %j', (args, message) => {
    expect(() => parseImportOptions(args, {})).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(message) }),
    )
  })
})

describe('an input file', () => {
  async function readLines(content: Buffer) {
    const folder = await makeFolder()
    await writeFile(path.join(folder, 'users.ndjson'), content)
    const [file] = await findInputFiles(folder)
    const lines = []
    for await (const some of file!.lines()) lines.push(...some)
    return lines
  }

  it('is read line by line, whatever system wrote it', async () => {
    const lines = await readLines(Buffer.from('\ufeff{"a":1}\r\n\r\n  \n{"b":"ü"}\n{"c":3}'))
    expect(lines.map(({ number, text }) => [number, text])).toEqual([
      [1, '{"a":1}'],
      [4, '{"b":"ü"}'],
      [5, '{"c":3}'],
    ])
  })

  it('tells lines that are no text or too long, and goes on after them', async () => {
    const long = Buffer.alloc(8 * 1024 * 1024 + 1, 'x')
    const lines = await readLines(Buffer.concat([Buffer.from([0xff, 0x0a]), long, Buffer.from('\nlast\n')]))
    expect(lines).toMatchObject([
      { number: 1, text: undefined, problem: 'the line is not UTF-8 text' },
      { number: 2, text: undefined, problem: expect.stringContaining('longer than 8 MB') },
      { number: 3, text: 'last' },
    ])
  })
})

describe('the report', () => {
  it('goes to the working directory when the folder cannot be written', async () => {
    const folder = await makeFolder()
    const notes: string[] = []
    const report = await openReport(undefined, '/nowhere', folder, [], (text) => notes.push(text))
    await report.write([{ kind: 'users', line: 1, key: null, error: { code: 'X' }, record: null }])
    await report.close()
    const file = path.join(folder, 'import-refused.ndjson')
    expect(notes).toEqual([`/nowhere cannot be written; refused records will go to ${file}`])
    expect(await readFile(file, 'utf8')).toBe(
      '{"kind":"users","line":1,"key":null,"error":{"code":"X"},"record":null}\n',
    )
  })

  it('is refused where it was asked for and cannot be written', async () => {
    await expect(openReport('/nowhere/r.ndjson', '/tmp', '/tmp', [], () => {})).rejects.toMatchObject({ exitCode: 2 })
  })

  it('keeps the order of what is written at the same time', async () => {
    const folder = await makeFolder()
    const report = await openReport(undefined, folder, folder, [], () => {})
    const write = (line: number) =>
      report.write([{ kind: 'users', line, key: null, error: { code: 'X' }, record: null }])
    await Promise.all(Array.from({ length: 50 }, (_, line) => write(line)))
    await report.close()
    const lines = (await readFile(report.path, 'utf8')).trimEnd().split('\n')
    expect(lines.map((text) => JSON.parse(text).line)).toEqual(Array.from({ length: 50 }, (_, line) => line))
    expect(report.lines).toBe(50)
  })
})

describe('progress', () => {
  const file = { kind: 'messages' as const, path: '', size: 1000, bytesRead: () => 500, lines: async function* () {} }

  it('goes by the bytes read, less what is read and not settled', () => {
    expect(measure(file, { read: 400, finished: 200 }, 10_000)).toEqual({
      share: 0.25,
      records: 200,
      rate: 20,
      left: 30,
    })
    expect(measure(file, { read: 0, finished: 0 }, 0)).toEqual({ share: 0, records: 0, rate: 0, left: undefined })
  })

  it('is a bar on a terminal and a line elsewhere', () => {
    const show = (isTTY: boolean) => {
      const stream = Object.assign(collect(), { isTTY, columns: 120, cursorTo() {}, clearLine() {}, moveCursor() {} })
      const progress = openProgress(stream, () => 0)
      progress.start(file, () => ({ read: 2, finished: 2 }))
      progress.note('a remark')
      progress.stop()
      return stream.text()
    }
    expect(show(true)).toMatch(/messages \[=+-+\] 50% \| 2 records/)
    expect(show(false)).toBe('a remark\nmessages: 50%, 2 records, 0/s, 0:00 left\n')
  })
})

describe('a digest set', () => {
  it('holds each of many texts once', () => {
    const set = createDigestSet()
    const texts = Array.from({ length: 300_000 }, (_, index) => `message-${index % 7}-${index}`)
    expect(texts.filter((text) => set.add(text))).toHaveLength(300_000)
    expect(texts.some((text) => set.add(text))).toBe(false)
    expect(texts.every((text) => set.has(text))).toBe(true)
    expect(texts.some((text) => set.has(`${text}x`))).toBe(false)
  })
})
