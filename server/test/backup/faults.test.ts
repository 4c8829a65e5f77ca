import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { createRandom } from '../faults/support/random.ts'
import { inLongSuite, itWith } from '../gate/needs.ts'
import { commandScript, ensureBuilt, mainArguments } from '../support/build.ts'
import { say, texts } from '../support/chat.ts'
import { createUsers, createWorld, servedBy } from '../support/world.ts'
import { contentsOf, createSite, movedOn, run, type Site, temporaryFolder } from './scene.ts'

const seed = Number(process.env.FAULTS_SEED ?? randomInt(2 ** 31))
const kills = 10

/** The command as an operator runs it, in a process that can be killed. */
function launch(site: Site, folder: string, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [...mainArguments.slice(0, -1), commandScript, ...args], {
    env: { PATH: process.env.PATH, ...site.environment, BACKUP_TO: folder },
    stdio: 'ignore',
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** @returns how long it took, in milliseconds */
async function finish(child: ChildProcess): Promise<number> {
  const startedAt = performance.now()
  const [code] = await once(child, 'exit')
  expect(code).toBe(0)
  return performance.now() - startedAt
}

/** Kills it at any time of its life. @returns whether it was killed before it ended */
async function killWithin(child: ChildProcess, ms: number, random: () => number): Promise<boolean> {
  const ended = once(child, 'exit')
  await Promise.race([delay(ms * random()), ended])
  child.kill('SIGKILL')
  const [, signal] = await ended
  return signal === 'SIGKILL'
}

itWith(
  inLongSuite,
  `killed backups and restores leave nothing that is taken for whole, and the next one is whole (FAULTS_SEED=${seed})`,
  async () => {
    ensureBuilt()
    const { next } = createRandom(seed)
    const [site, empty, folder] = [await createSite(), await createSite({ isEmpty: true }), await temporaryFolder()]
    const service = await site.start()
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    for (let n = 0; n < 20; n++) await say(world, 'alice', 'bob', `message ${n}`)
    await service.parley.close()

    const took = await finish(launch(site, folder, ['backup']))
    let finished = 1
    for (let n = 0; n < kills; n++) {
      if (!(await killWithin(launch(site, folder, ['backup']), took, next))) finished++
    }
    await finish(launch(site, folder, ['backup']))
    finished++
    const listed = await run(site, folder, 'backup', ['--list'])
    const ids = listed.out.split('\n').flatMap((line) => line.split('\t')[0] || [])
    // One may have been killed when all was done but to end.
    expect(ids.length).toBeGreaterThanOrEqual(finished)
    expect(ids.length).toBeLessThanOrEqual(kills + 2)
    for (const id of ids) expect(await run(site, folder, 'verify-backup', [id])).toMatchObject({ code: 0 })

    for (let n = 0; n < kills; n++) {
      await killWithin(launch(empty, folder, ['restore', '--replace', empty.name]), took, next)
    }
    await finish(launch(empty, folder, ['restore', '--replace', empty.name]))
    expect(await contentsOf(empty, movedOn)).toEqual(await contentsOf(site, movedOn))
    const again = servedBy(world, (await empty.start()).url)
    expect(texts(await again.get('/messages?limit=100', { as: 'bob' }))).toHaveLength(20)
  },
)
