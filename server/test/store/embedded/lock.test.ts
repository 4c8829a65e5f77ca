import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DataDirInUseError } from '../../../src/store/embedded/index.ts'
import { lockFolder } from '../../../src/store/embedded/lock.ts'
import { ensureBuilt } from '../../support/build.ts'
import { createBench, kill } from './support.ts'

const bench = createBench()

/** Takes the lock when its input says so, tells whether it got it, and keeps it. */
const contender = `
  const { lockFolder } = await load('lock')
  process.stdin.once('data', () => {
    try {
      lockFolder(args[0])
      say({ won: true })
    } catch (error) {
      say({ won: false, error: error.name + ': ' + error.message })
    }
  })
  process.stdin.resume()
  say({ ready: true })`

const holderScript = `
  const { lockFolder } = await load('lock')
  lockFolder(args[0])
  process.stdin.resume()
  say({})`

beforeAll(ensureBuilt)
afterAll(bench.clean)

function readLock(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'parley.lock'), 'utf8'))
}

/** A lock like the one this process would write, with changes. */
function forgeLock(folder: string, changes: Record<string, unknown>): void {
  const lock = lockFolder(folder)
  const genuine = readLock(folder)
  lock.release()
  writeFileSync(join(folder, 'parley.lock'), JSON.stringify({ ...genuine, id: 'forged', ...changes }))
}

/** Takes the lock and leaves nothing behind but the lock itself. */
function expectFree(folder: string): void {
  const lock = lockFolder(folder)
  expect(readdirSync(folder)).toEqual(['parley.lock'])
  expect(readLock(folder).pid).toBe(process.pid)
  lock.release()
  expect(readdirSync(folder)).toEqual([])
}

describe('the lock of a data folder', () => {
  it('is refused to others, by name of folder and process, until it is released', () => {
    const folder = bench.makeFolder()
    const lock = lockFolder(folder)
    expect(() => lockFolder(folder)).toThrow(DataDirInUseError)
    expect(() => lockFolder(folder)).toThrow(`${folder} is in use by process ${process.pid}`)
    lock.release()
    expectFree(folder)
  })

  it('is not released twice, so that the lock of a later holder stays', () => {
    const folder = bench.makeFolder()
    const first = lockFolder(folder)
    first.release()
    const second = lockFolder(folder)
    first.release()
    expect(existsSync(join(folder, 'parley.lock'))).toBe(true)
    second.release()
  })

  it('of a process that was killed is taken over', async () => {
    const folder = bench.makeFolder()
    const { child } = await bench.runService(holderScript, folder)
    expect(() => lockFolder(folder)).toThrow(`in use by process ${child.pid}`)
    await kill(child)
    expectFree(folder)
  })

  it.each([
    ['a pid that was given to another process since', { pid: process.pid, startedAt: '1' }],
    ['a pid of an earlier boot', { pid: process.pid, boot: '00000000-0000-0000-0000-000000000000' }],
    ['a pid of another container', { pid: process.pid, pidNamespace: 'pid:[1]' }],
    ['a pid that nobody has', { pid: 4_194_303 }],
  ])('that holds %s is taken over', (_, changes) => {
    const folder = bench.makeFolder()
    forgeLock(folder, changes)
    expectFree(folder)
  })

  it.each([
    ['an empty file', ''],
    ['a file cut off', '{"id":"ab","pi'],
    ['a bare number', `${process.pid}\n`],
    ['another kind of file', '{"name":"parley"}'],
  ])('that is %s is taken over', (_, content) => {
    const folder = bench.makeFolder()
    writeFileSync(join(folder, 'parley.lock'), content)
    expectFree(folder)
  })

  it('is taken over from a process that died while it took it over from another', () => {
    const folder = bench.makeFolder()
    forgeLock(folder, { pid: 4_194_303, id: 'one' })
    writeFileSync(join(folder, 'parley.lock.after-one'), JSON.stringify({ id: 'two', pid: 4_194_302 }))
    expectFree(folder)
  })

  it('is refused while a live process is about to take it over from a dead one', () => {
    const folder = bench.makeFolder()
    const lock = lockFolder(folder)
    const live = readLock(folder)
    lock.release()
    forgeLock(folder, { pid: 4_194_303, id: 'one' })
    writeFileSync(join(folder, 'parley.lock.after-one'), JSON.stringify(live))
    expect(() => lockFolder(folder)).toThrow(DataDirInUseError)
  })

  it('fails instead of waiting for ever where the file can be neither read nor replaced', () => {
    const folder = bench.makeFolder()
    symlinkSync(join(folder, 'nowhere'), join(folder, 'parley.lock'))
    expect(() => lockFolder(folder)).toThrow(/Cannot take the lock/)
    const other = bench.makeFolder()
    mkdirSync(join(other, 'parley.lock'))
    expect(() => lockFolder(other)).toThrow()
  })

  it('goes to exactly one of many processes that find a stale one at the same instant', async () => {
    const contenders = 6
    for (let round = 0; round < 2; round++) {
      const folder = bench.makeFolder()
      forgeLock(folder, { pid: 4_194_303, id: `dead-${round}` })
      const services = await Promise.all(Array.from({ length: contenders }, () => bench.runService(contender, folder)))
      for (const { child } of services) child.stdin?.write('go\n')
      const answers = await Promise.all(services.map((service) => service.next()))
      expect(answers.filter(({ won }) => won)).toHaveLength(1)
      for (const { won, error } of answers) if (!won) expect(error).toMatch(/^DataDirInUseError/)
      expect(readdirSync(folder)).toEqual(['parley.lock'])
      for (const { child } of services) await kill(child)
    }
  })
})
