import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say } from '../support/chat.ts'
import { createUsers, createWorld, servedBy, type World } from '../support/world.ts'
import { startHosted } from './hosted.ts'
import { makeFolder, moveIn, sendFile } from './move-in-world.ts'

/** An old service with a message and a file. */
async function createSource() {
  const source = await createWorld()
  await createUsers(source, 'alice', 'bob')
  await say(source, 'alice', 'bob', 'to be moved')
  await sendFile(source)
  return { source, hosted: await startHosted(source.url) }
}

/** An app that people use. */
async function createUsedWorld(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'own', 'other')
  await createGroup(world, 'club', 'own')
  await say(world, 'own', 'other', 'mine')
  return world
}

const askToCutOver = (folder: string) => writeFile(path.join(folder, 'cut-over'), '')

const addressesOf = async (world: World): Promise<string[]> =>
  dataOf(await world.get('/messages')).flatMap(({ data }: { data: { attachments?: { url: string }[] } }) =>
    (data.attachments ?? []).map(({ url }) => url),
  )

/** Makes a checkpoint as versions did that did not write down what a folder was moved into. */
async function makeOlder(folder: string, url: string): Promise<void> {
  const file = path.join(folder, 'checkpoint.json')
  const { state, ...rest } = JSON.parse(await readFile(file, 'utf8'))
  const { target, wasEmpty, handedTo, adopted, ...older } = state
  expect([target, Object.values(wasEmpty), handedTo, adopted]).toEqual([
    expect.any(String),
    [true],
    [target],
    undefined,
  ])
  const before = { ...older, targetWasEmpty: true, handedTo: [url] }
  const uploads = path.join(folder, 'uploaded.ndjson')
  const lines = (await readFile(uploads, 'utf8')).trimEnd().split('\n')
  const olderLines = lines.map((line) => {
    const { app, ...of } = JSON.parse(line)
    expect(app).toEqual(expect.any(String))
    return `${JSON.stringify(of)}\n`
  })
  await writeFile(uploads, olderLines.join(''))
  const files = { ...rest.files, 'uploaded.ndjson': olderLines.join('').length }
  await writeFile(file, JSON.stringify({ ...rest, files, state: before }))
}

describe('a folder of a move that has another target', () => {
  it('takes nothing from an app that is in use, whatever it was moved into before', async () => {
    const { source, hosted } = await createSource()
    const [rehearsal, used] = [await createWorld(), await createUsedWorld()]
    const folder = await makeFolder()
    expect(await moveIn(source, hosted, rehearsal, folder)).toMatchObject({ code: 0 })
    await askToCutOver(folder)
    const followed = await moveIn(source, hosted, used, folder, '--follow')
    expect(followed, followed.stderr).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('had data of its own'),
    })
    for (const at of ['/users/own', '/users/other', '/groups/club']) expect((await used.get(at)).status).toBe(200)
    for (const text of ['mine', 'to be moved'])
      expect(dataOf(await used.get(`/messages?searchKey=${encodeURIComponent(text)}`))).toHaveLength(1)
    expect(await addressesOf(used)).toEqual([expect.stringContaining(`/media/${used.app.name}/`)])
  })

  it('still removes what is gone from the first one, which was empty', async () => {
    const { source, hosted } = await createSource()
    const [rehearsal, other] = [await createWorld(), await createUsedWorld()]
    const folder = await makeFolder()
    for (const target of [rehearsal, other])
      expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    const [address] = await addressesOf(rehearsal)
    const { id } = await say(source, 'alice', 'bob', 'one moment')
    dataOf(await source.delete(`/messages/${id}`, { permanent: true }))
    dataOf(await source.delete('/users/bob', {}))
    await createUsers(rehearsal, 'nobody')
    await askToCutOver(folder)
    expect(await moveIn(source, hosted, rehearsal, folder, '--follow')).toMatchObject({ code: 0 })
    expect((await rehearsal.get('/users/nobody')).status).toBe(404)
    expect(await addressesOf(rehearsal)).toEqual([address])
  })

  it('is refused once it follows, and compared with no other', async () => {
    const { source, hosted } = await createSource()
    const [target, other] = [await createWorld(), await createUsedWorld()]
    const folder = await makeFolder()
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    const refusal = { code: 2, stderr: expect.stringContaining(`is a move into ${target.url} ${target.app.name}`) }
    expect(await moveIn(source, hosted, other, folder, '--verify')).toMatchObject(refusal)
    await askToCutOver(folder)
    expect(await moveIn(source, hosted, target, folder, '--follow')).toMatchObject({ code: 0 })
    for (const more of [[], ['--follow'], ['--verify']])
      expect(await moveIn(source, hosted, other, folder, ...more)).toMatchObject(refusal)
    expect((await other.get('/users/alice')).status).toBe(404)
    expect(await moveIn(source, hosted, target, folder, '--verify')).toMatchObject({ code: 0 })
  })
})

describe('a folder of a move that an older version began', () => {
  it('goes on with the target that it has, with its files and with what is removed there', async () => {
    const { source, hosted } = await createSource()
    const target = await createWorld()
    const folder = await makeFolder()
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    await makeOlder(folder, target.url)
    const addresses = await addressesOf(target)
    await createUsers(target, 'nobody')
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    expect((await readFile(path.join(folder, 'uploaded.ndjson'), 'utf8')).trimEnd().split('\n')).toHaveLength(1)
    await askToCutOver(folder)
    expect(await moveIn(source, hosted, target, folder, '--follow')).toMatchObject({ code: 0 })
    expect((await target.get('/users/nobody')).status).toBe(404)
    expect(await addressesOf(target)).toEqual(addresses)
    expect((await fetch(addresses[0] as string)).status).toBe(200)
  })

  it('takes nothing from another service than the one that messages were handed to', async () => {
    const { source, hosted } = await createSource()
    const [rehearsal, used] = [await createWorld(), await createUsedWorld()]
    const into = servedBy(used, (await startHosted(used.url)).url)
    const folder = await makeFolder()
    expect(await moveIn(source, hosted, rehearsal, folder)).toMatchObject({ code: 0 })
    await makeOlder(folder, rehearsal.url)
    await askToCutOver(folder)
    expect(await moveIn(source, hosted, into, folder, '--follow')).toMatchObject({ code: 0 })
    for (const at of ['/users/own', '/groups/club']) expect((await used.get(at)).status).toBe(200)
    expect(await addressesOf(used)).toEqual([expect.stringContaining(`/media/${used.app.name}/`)])
  })
})
