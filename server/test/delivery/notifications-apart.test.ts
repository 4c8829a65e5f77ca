import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataKeysTopic, noteKeys, storeKey } from '../../src/store/data-keys.ts'
import { mayLeaveIdle } from '../../src/store/priority.ts'
import { ensureBuilt } from '../support/build.ts'
import { dataOf, say } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { logsOf, patch, setUpCustomPush, toldTo } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { testMasterKey } from '../support/service.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

let own: OwnServices
let service: Service
let world: World
let endpoint: Endpoint
/** Messages of which somebody is told. */
let said = 0
/** Threads that were begun. */
const threads: Worker[] = []
const noteThread = (thread: Worker) => void threads.push(thread)

beforeAll(async () => {
  // The thread reads the sources of the service, and what is built of the contract.
  ensureBuilt()
  process.on('worker', noteThread)
  own = await createOwnServices()
  service = await own.start({}, { notifiesApart: true })
  ;[world, endpoint] = [await createWorld(service), await open()]
  await createUsers(world, 'alice', 'bob')
})
afterAll(async () => {
  process.off('worker', noteThread)
  await own.close()
  await closeEndpoints()
})

/** Threads of this process that Linux runs in idle times only. */
function idleThreads(): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/task').filter((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    // The name before may have anything in it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[policy] === idlePolicy
  })
}

/** The place of the policy behind the name of a thread, as in proc_pid_stat(5). */
const policy = 38
const idlePolicy = '5'

const hasChrt = () => spawnSync('chrt', ['--version']).status === 0

const isThere = ({ threadId }: Worker) => threadId !== -1

describe('notifications in a thread of their own', () => {
  it('begin it with the first, and are sent, logged and counted as ever', async () => {
    await say(world, 'alice', 'bob', 'nobody is told')
    expect(threads).toEqual([])
    await setUpCustomPush(world, endpoint.url)
    said++
    await say(world, 'alice', 'bob', 'first')
    await soon(() => expect(toldTo(endpoint)).toEqual(['bob: Alice, first']))
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ success: true, uid: 'bob' }]))
    expect(threads).toHaveLength(1)
    await soon(async () =>
      expect(await service.parley.context.metrics.text()).toMatch(
        /parley_notifications_total\{provider="custom",outcome="delivered"\} 1\n/,
      ),
    )
  })

  it('give way to whoever calls the service, where the system would let them have a share again', async () => {
    await soon(() => expect(idleThreads()).toHaveLength(mayLeaveIdle() && hasChrt() ? 1 : 0))
  })

  it('follow what is changed meanwhile: settings, and the keys that secrets are kept with', async () => {
    const { database, secrets, invalidation } = service.parley.context
    await database.transaction(async (tx) => {
      await storeKey(tx, testMasterKey, { purpose: 'seal', version: 2, key: Buffer.alloc(32, 7) })
      await noteKeys(tx, 'seal_version', '2')
      await invalidation.announce(tx, dataKeysTopic, '')
    })
    const sealed = () => secrets.seal('something').toString('latin1', 0, 3)
    await soon(() => expect(sealed()).toBe('pk1'))
    const moved = await open()
    await setUpCustomPush(world, moved.url)
    dataOf(await patch(world, '/notifications/v1/settings', { templates: { usePrivacyTemplate: 2 } }))
    // The thread hears of it on a connection of its own, on a busy machine after the next message.
    await soon(async () => {
      said++
      await say(world, 'alice', 'bob', 'second')
      await delay(300)
      expect(toldTo(moved)).toContain('bob: Alice, New message')
    })
  })

  it('go on in another when it ends by a fault, and lose nothing', async () => {
    const [thread] = threads
    await thread?.terminate()
    await say(world, 'alice', 'bob', 'third')
    // Others would have to wait until what it held has run out.
    await own.query('update notification_planners set leased_until = 0')
    await own.query('update notification_senders set leased_until = 0')
    await say(world, 'alice', 'bob', 'fourth')
    await soon(async () => {
      const told = (await logsOf(world)) as Array<{ success: boolean }>
      expect(told.filter(({ success }) => success)).toHaveLength(said + 2)
    })
    expect(threads.filter(isThere)).toHaveLength(1)
    expect(threads).toHaveLength(2)
  })

  it('end with the service', async () => {
    await service.parley.close()
    expect(threads.filter(isThere)).toEqual([])
  })
})
