import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { FormData, fetch } from 'undici'
import { afterAll, expect, it } from 'vitest'
import { importCommand, systemClock } from '../../src/cli/import/run.ts'
import { differencesOf, listsOf, messages, type Side, sideAt } from '../cli/both-sides.ts'
import { generateHistory } from '../cli/history.ts'
import { startHosted } from '../cli/hosted.ts'
import { collect } from '../cli/import-world.ts'
import { describeWith, inLongSuite } from '../gate/needs.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { findFreePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { apiKey } from './support/service-process.ts'
import { createStage } from './support/stage.ts'

/** An import folder with a history to move in place of one that is made up. */
const history = process.env.MOVE_IN_HISTORY
const size = { people: 40, groups: 6, messages: 4000, changes: 200, kills: 12 }

const stage = createStage()
afterAll(stage.clean)

/** A service that comes back at the same address when it is killed. */
async function startThere() {
  const { url: database, drop } = await createOwnDatabase()
  stage.onClean(() => drop())
  const environment = {
    DATA_DIR: stage.makeFolder(),
    DATABASE_URL: database,
    PORT: String(await findFreePort()),
  }
  let service = await stage.start(environment)
  return {
    side: sideAt(await service.ready, apiKey),
    async killAndStart() {
      await service.kill()
      service = await stage.start(environment)
    },
  }
}

const data = async (answer: ReturnType<Side['call']>) => {
  const { status, body } = await answer
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.data
}

// A minute and more. One that is killed, stopped, loses its key or what it compares is in cli/move-in-*.test.ts.
describeWith(inLongSuite, 'a move while people write and everything is killed', () => {
  it('ends with the same lists on both sides, for everybody, field by field', async () => {
    const [source, target] = [await startThere(), await startThere()]
    const folder = history ?? (await generateHistory(stage.makeFolder(), size))
    const written = collect()
    const surroundings = {
      stdout: written,
      stderr: written,
      env: {},
      cwd: folder,
      signal: new AbortController().signal,
    }
    const args = [folder, '--url', source.side.url, '--apikey', apiKey, '--report', join(stage.makeFolder(), 'refused')]
    expect(await importCommand(args, { ...surroundings, clock: systemClock }), written.text()).toBe(0)
    await makeLively(source.side, size.changes)

    const hosted = await startHosted(source.side.url, {
      ...{ failed: 150, reset: 150, limited: 100, slow: 100, repeated: 50 },
      rows: 300,
    })
    const into = join(stage.makeFolder(), 'move')
    const command = ['move-in', '--from', hosted.url, '--into', into, '--url', target.side.url, '--follow']
    const more = ['--interval', '1', '--overlap', '60']
    const env = { ...process.env, MOVE_IN_API_KEY: apiKey, PARLEY_API_KEY: apiKey, OUTBOUND_ALLOW: '127.0.0.1' }
    let said = ''
    const launch = () => {
      const main = resolve(import.meta.dirname, '../../dist/cli/main.js')
      const child = spawn(process.execPath, [main, ...command, ...more], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          said += chunk
        })
      let isOver = false
      const exited = once(child, 'close').then(([code]) => {
        isOver = true
        return code as number | null
      })
      return { kill: () => child.kill('SIGKILL'), exited, isOver: () => isOver }
    }
    let mover = launch()

    const senders = startSenders(source.side)
    for (let kill = 0; kill < size.kills; kill++) {
      const sent = senders.sent()
      await until(() => senders.sent() >= sent + 10, { progress: senders.sent })
      if (kill % 3 === 0) {
        mover.kill()
        await mover.exited
        mover = launch()
      } else await (kill % 3 === 1 ? source : target).killAndStart()
    }
    const seen = said.length
    await until(() => said.indexOf(' behind:', seen) >= 0 || mover.isOver(), { progress: () => said.length })
    await senders.stop()
    await writeFile(join(into, 'cut-over'), '')
    expect(await mover.exited, said.slice(-3000)).toBe(0)

    const table = (await readFile(join(into, 'ids.ndjson'), 'utf8')).trimEnd().split('\n')
    const ids = new Map(table.map((line) => JSON.parse(line)).map(({ from, to }) => [String(from), String(to)]))
    // Of one's own history, which may have groups of hundreds with tens of thousands of messages, the ends of each list.
    const extent = { ends: history === undefined ? undefined : 100 }
    const own = await listsOf(source.side, (id) => ids.get(id) ?? `${id} of the old service`, extent)
    const differences = differencesOf(own, await listsOf(target.side, (id) => id, extent))
    if (differences.length > 0) console.log(await circumstancesOf(differences, ids, source.side, target.side, into))
    expect(differences).toEqual([])
    expect((await messages(target.side)).length).toBeGreaterThan(senders.sent())
  }, 3_600_000)
})

/** What the move reported, and messages that have other reactions, as each side tells of them alone: for whoever looks for the reason. */
async function circumstancesOf(
  differences: readonly string[],
  ids: ReadonlyMap<string, string>,
  source: Side,
  target: Side,
  folder: string,
): Promise<string> {
  const told = [await readFile(join(folder, 'report.json'), 'utf8')]
  const named = differences.flatMap((difference) => /^reactions (\d+)/.exec(difference)?.[1] ?? [])
  for (const [from, to] of [...ids].filter(([, to]) => named.includes(to)))
    for (const [side, id] of [[source, from] as const, [target, to] as const])
      for (const path of [`/messages/${id}`, `/messages/${id}/reactions?limit=100`])
        told.push(`${side.url}${path} ${JSON.stringify((await side.call('GET', path)).body)}`)
  return told.join('\n')
}

/** What a history that was imported lacks: people with tokens, threads, reactions, pins, files, edits, marks. */
async function makeLively(side: Side, changes: number): Promise<void> {
  const rows = (await messages(side)).filter(
    ({ category, deletedAt }) => category === 'message' && deletedAt === undefined,
  )
  const post = (path: string, body: unknown, as?: string) =>
    side.call('POST', path, body, as === undefined ? {} : { as })
  const every = Math.max(1, Math.floor(rows.length / changes))
  for (const [place, row] of rows.filter((_, at) => at % every === 0).entries()) {
    const { id, sender, receiver, receiverType } = row
    const other = receiverType === 'user' ? receiver : sender
    const to = { receiver, receiverType }
    const conversation = receiverType === 'user' ? `/users/${sender}/conversation` : `/groups/${receiver}/conversation`
    const turns: (() => Promise<unknown>)[] = [
      () => post(`/messages/${id}/reactions/${encodeURIComponent('👍')}`, {}, other),
      () => post('/messages', { ...to, type: 'text', data: { text: `a reply to ${id}` }, parentId: id }, sender),
      () => side.call('PUT', `/messages/${id}`, { data: { text: `edited ${id}` } }, { as: sender }),
      () => side.call('DELETE', `/messages/${id}`, {}, { as: sender }),
      () => post('/messages', { ...to, type: 'text', data: { text: 'as I said' }, quotedMessageId: id }, sender),
      () => post(`/messages/${id}/pin`, {}),
      () => post(`/messages/${id}/save`, {}, other),
      () => post(`${conversation}/read`, { messageId: id }, other),
      () => sendFile(side, to, sender, place),
      () => post(`/users/${sender}/auth_tokens`, {}),
      () => post('/messages', { ...to, category: 'custom', type: 'place', data: { customData: { place } } }, sender),
      () => side.call('PUT', conversation, { tags: [`tag-${place % 3}`] }, { as: other }),
    ]
    await turns[place % turns.length]!()
  }
}

async function sendFile(side: Side, to: object, sender: string, place: number): Promise<void> {
  const content = `the content of file ${place}`
  const file = { name: `${place}.txt`, size: content.length, mimeType: 'text/plain' }
  const asked = await side.call('POST', '/files/upload-url', { files: { f: file }, ...to }, { as: sender })
  // Whoever has left the group sends no more.
  if (asked.status === 403) return
  const { f } = await data(Promise.resolve(asked))
  const form = new FormData()
  for (const [name, value] of Object.entries(f.request.body)) form.append(name, String(value))
  form.append('file', new Blob([content], { type: 'text/plain' }), file.name)
  const answer = await fetch(f.request.url, { method: 'POST', body: form })
  if (!answer.ok) throw new Error(`the file was answered ${answer.status}`)
  await data(
    side.call('POST', '/messages', { ...to, type: 'file', data: { attachments: [f.attachment] } }, { as: sender }),
  )
}

/** People who go on writing, reading, editing and reacting in the old service. */
function startSenders(side: Side) {
  let sent = 0
  let stopped = false
  const speak = async (who: number) => {
    const users = (await data(side.call('GET', '/users?perPage=100'))).map(({ uid }: { uid: string }) => uid)
    const [uid, other] = [users[who % users.length], users[(who + 1) % users.length]]
    const last: string[] = []
    for (let n = 0; !stopped; n++) {
      const muid = `live-${who}-${n}`
      const text = `${uid} goes on, ${n}`
      const to = { receiver: other, receiverType: 'user' }
      const { id } = await data(
        side.call('POST', '/messages', { ...to, type: 'text', data: { text }, muid }, { as: uid }),
      )
      last.push(id)
      const earlier = last[last.length - 4]
      if (n % 7 === 3 && earlier !== undefined)
        await side.call('PUT', `/messages/${earlier}`, { data: { text: `${text}, edited` } }, { as: uid })
      if (n % 9 === 4 && earlier !== undefined)
        await side.call('POST', `/messages/${earlier}/reactions/${encodeURIComponent('🎉')}`, {}, { as: other })
      // Nobody who looks now and then sees what it said in between.
      if (n % 22 === 5 && earlier !== undefined)
        await side.call('PUT', `/messages/${earlier}`, { data: { text: 'edited, then deleted' } }, { as: uid })
      if (n % 11 === 5 && earlier !== undefined)
        await side.call('DELETE', `/messages/${earlier}`, { permanent: n % 2 === 0 }, { as: uid })
      if (n % 13 === 6) await side.call('POST', `/users/${uid}/conversation/read`, {}, { as: other })
      sent += 1
      await delay(30)
    }
  }
  const running = [0, 1, 2].map(speak)
  return {
    sent: () => sent,
    async stop() {
      stopped = true
      await Promise.all(running)
    },
  }
}
