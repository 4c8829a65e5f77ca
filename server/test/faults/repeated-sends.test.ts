import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { expectSuccess, type Line, openLine } from './support/line.ts'
import { apiKey } from './support/service-process.ts'
import { createStage } from './support/stage.ts'

const stage = createStage()
let url = ''
const line: Line = openLine(() => url)

beforeAll(async () => {
  const service = await stage.start({ DATA_DIR: stage.makeDataDir() })
  url = await service.ready
  for (const uid of ['alice', 'bob']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
})
afterAll(async () => {
  await line.close()
  await stage.clean()
})

const bodyOf = (muid: string) => ({ receiver: 'bob', receiverType: 'user', muid, data: { text: `this is ${muid}` } })

/** Writes a whole request and cuts the connection before any answer can come. */
function sendAndCut(muid: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const body = JSON.stringify(bodyOf(muid))
  const head = [
    'POST /v3/messages HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `apikey: ${apiKey}`,
    'onBehalfOf: alice',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => {
        socket.destroy()
        resolve()
      })
    })
  })
}

async function storedWith(muid: string): Promise<Array<{ id: string; data: { text: string } }>> {
  const path = '/users/bob/messages?affix=prepend&limit=1000'
  const { data } = await expectSuccess(line.call('GET', path, undefined, { as: 'alice' }))
  return data.filter((message: { muid?: string }) => message.muid === muid)
}

const retry = async (muid: string) =>
  (await expectSuccess(line.call('POST', '/messages', bodyOf(muid), { as: 'alice' }))).data

it('a send whose connection was cut before the answer is stored, and the retry answers that message', async () => {
  for (let n = 0; n < 10; n++) {
    const muid = `cut-${n}`
    await sendAndCut(muid)
    const [stored] = await until(async () => {
      const found = await storedWith(muid)
      return found.length > 0 && found
    })
    const answered = await retry(muid)
    expect(answered.id).toBe(stored?.id)
    expect(answered.data.text).toBe(`this is ${muid}`)
    expect(await storedWith(muid)).toHaveLength(1)
  }
})

it('two cut sends and a retry at the same instant store one message', async () => {
  for (let n = 0; n < 20; n++) {
    const muid = `race-${n}`
    const [answered] = await Promise.all([retry(muid), sendAndCut(muid), sendAndCut(muid)])
    expect((await retry(muid)).id).toBe(answered.id)
    expect((await storedWith(muid)).map(({ id }) => id)).toEqual([answered.id])
  }
})

it('sixteen sends with one muid on as many connections answer one message', async () => {
  const lines = Array.from({ length: 16 }, () => openLine(() => url))
  for (let n = 0; n < 5; n++) {
    const muid = `crowd-${n}`
    const answers = await Promise.all(
      lines.map((each) => expectSuccess(each.call('POST', '/messages', bodyOf(muid), { as: 'alice' }))),
    )
    const ids = new Set(answers.map(({ data }) => data.id))
    expect(ids.size).toBe(1)
    expect(await storedWith(muid)).toHaveLength(1)
  }
  await Promise.all(lines.map((each) => each.close()))
})
