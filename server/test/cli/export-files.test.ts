import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { readManifest } from '../../src/cli/export/manifest.ts'
import { ExactRefusal, ExactStopped } from '../../src/cli/import/exact/failures.ts'
import { createFolderStorage } from '../../src/media/folder.ts'
import { dataOf, say } from '../support/chat.ts'
import { emptyApp, exportOf, importInto, origin, recordsOf, thereAndBack, withFolder } from '../support/exports.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { mediaFolder } from '../support/service.ts'
import { createUsers, createWorld } from '../support/world.ts'

describe('addresses of files in an export', () => {
  it('become those of the other service, and nothing of what stands around them is touched', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { data } = dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const here = data.attachments[0].url as string
    const there = `${origin}${new URL(here).pathname.replace(`/${world.app.name}/`, '/<app>/')}`
    const [, key] = /\/([0-9a-f]{32})\//.exec(here) ?? []
    const around = [
      (address: string) => `看https://example.com/文档，图在${address}。`,
      (address: string) => `[docs](https://docs.example.com/a)[photo](${address})`,
      (address: string) => `https://proxy.example.com/?u=${address}`,
      (address: string) => `${address},${address}`,
      (address: string) => `http://${address}`,
    ]
    // Other hosts by which it was reached.
    const hosts = ['http://[::1]:8080', 'https://Chat.Example.com:8443', 'http://chat_1.local', 'https://例え.jp']
    for (const place of around) await say(world, 'alice', 'bob', place(here))
    for (const host of hosts) await say(world, 'alice', 'bob', host + new URL(here).pathname)
    await thereAndBack(world, async (first, second, { name }) => {
      const texts = async (folder: string) =>
        (await recordsOf(folder, 'messages.ndjson')).flatMap(({ data }) => (data as { text?: string }).text ?? [])
      const portable = `https://media.invalid/${key}/cat.png`
      const expected = [...around.map((place) => place(portable)), ...hosts.map(() => portable)]
      expect(await texts(first)).toEqual(expected)
      expect(await texts(second)).toEqual(expected)

      const headers = { appid: name, apikey: world.apiKey }
      const moved = dataOf(await world.get('/users/bob/messages?type=text', { as: 'alice', headers })) as Array<{
        data: { text: string }
      }>
      const own = there.replace('<app>', name)
      expect(moved.map(({ data }) => data.text)).toEqual([
        ...around.map((place) => place(own)),
        ...hosts.map(() => own),
      ])
    })
  })
})

/** An app whose files somebody has sent to bob, and an export of it. @returns the keys of the files, in the order of the export */
async function exportFiles(folder: string, count: number) {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  for (let file = 0; file < count; file++) dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
  await exportOf(world.context, world.app, folder)
  const keys = (await recordsOf(folder, 'media.ndjson')).map(({ key }) => String(key))
  const contentIn = async (app: { readonly name: string }, key: string) => {
    const answer = await fetch(`${world.url}/media/${app.name}/${key}/cat.png`)
    return answer.status === 200 ? answer.text() : answer.status
  }
  return { world, keys, contentIn }
}

describe('files that an export does not have when it is imported', () => {
  it('are brought by a later run, which names what is missing until then', async () => {
    await withFolder(async (folder) => {
      const { world, keys, contentIn } = await exportFiles(folder, 3)
      const [one, other, removed] = keys as [string, string, string]
      const inFolder = (key: string) => path.join(folder, 'files', key)
      await withFolder(async (aside) => {
        for (const key of keys) {
          await copyFile(inFolder(key), path.join(aside, key))
          await rm(inFolder(key))
        }
        const bringBack = (key: string) => copyFile(path.join(aside, key), inFolder(key))
        const target = await emptyApp(world.context)
        const run = () => importInto(world.context, target, folder)
        expect(await run()).toEqual({
          wasThere: false,
          remarks: [`Files that the folder does not have (3): ${keys.join(', ')}`],
          missing: keys,
        })
        const headers = { appid: target.name, apikey: world.apiKey }
        const images = dataOf(await world.get('/users/bob/messages?type=image', { as: 'alice', headers }))
        const { id } = images.find((message: object) => JSON.stringify(message).includes(removed))
        dataOf(await world.delete(`/messages/${id}`, { permanent: true }, { headers }))

        await bringBack(one)
        await bringBack(removed)
        expect(await run()).toEqual({
          wasThere: true,
          remarks: ['Files brought that were missing before: 1', `Files that the folder does not have (1): ${other}`],
          missing: [other],
        })
        expect(await contentIn(target, one)).toBe(picture.content)
        expect(await contentIn(target, other)).toBe(404)
        await bringBack(other)
        const brought = ['Files brought that were missing before: 1']
        expect(await run()).toEqual({ wasThere: true, remarks: brought, missing: [] })
        expect(await contentIn(target, other)).toBe(picture.content)
        expect(await contentIn(target, removed)).toBe(404)
        expect(await run()).toEqual({ wasThere: true, remarks: [], missing: [] })
      })
    })
  })

  it('are brought by the run that goes on after an interruption', async () => {
    await withFolder(async (folder) => {
      const { world, keys, contentIn } = await exportFiles(folder, 21)
      const late = keys[2] as string
      const file = path.join(folder, 'files', late)
      await copyFile(file, path.join(folder, 'aside'))
      await rm(file)
      const target = await emptyApp(world.context)
      const stop = new AbortController()
      const onProgress = (phase: string, line: number) => {
        if (phase === 'files' && line === 20) stop.abort()
      }
      const stopped = importInto(world.context, target, folder, { signal: stop.signal, onProgress })
      await expect(stopped).rejects.toThrow(ExactStopped)
      await copyFile(path.join(folder, 'aside'), file)
      expect(await importInto(world.context, target, folder)).toMatchObject({ wasThere: false, missing: [] })
      expect(await contentIn(target, late)).toBe(picture.content)
    })
  })
})

describe('a file of an export that was damaged, and has its size', () => {
  const damaged = picture.content.replace('0', 'x')

  it('is not stored, and named until the folder has it as it was exported', async () => {
    await withFolder(async (folder) => {
      const { world, keys, contentIn } = await exportFiles(folder, 2)
      const [whole, broken] = keys as [string, string]
      await writeFile(path.join(folder, 'files', broken), damaged)
      const target = await emptyApp(world.context)
      const run = () => importInto(world.context, target, folder)
      const remark = `Files that are not as they were exported (1): ${broken}`
      expect(await run()).toEqual({ wasThere: false, remarks: [remark], missing: [broken] })
      expect(await contentIn(target, whole)).toBe(picture.content)
      expect(await contentIn(target, broken)).toBe(404)
      expect(await run()).toEqual({ wasThere: true, remarks: [remark], missing: [broken] })
      await writeFile(path.join(folder, 'files', broken), picture.content)
      expect(await run()).toMatchObject({ wasThere: true, missing: [] })
      expect(await contentIn(target, broken)).toBe(picture.content)
    })
  })

  it('is copied again by an export that goes on after an interruption', async () => {
    await withFolder(async (folder) => {
      const { world, keys } = await exportFiles(path.join(folder, 'other'), 3)
      const storage = createFolderStorage(mediaFolder)
      let reads = 0
      const away = {
        ...storage,
        read: (...asked: Parameters<typeof storage.read>) =>
          ++reads === 3 ? Promise.reject(new Error('the bucket is away')) : storage.read(...asked),
      }
      await expect(exportOf(world.context, world.app, folder, { storage: away })).rejects.toThrow('the bucket is away')
      const file = path.join(folder, 'files', keys[0] as string)
      await writeFile(file, damaged)
      const { copied } = await exportOf(world.context, world.app, folder)
      expect(copied).toMatchObject({ there: 1, copied: 2, missing: [] })
      expect(await readFile(file, 'utf8')).toBe(picture.content)
      expect(await importInto(world.context, await emptyApp(world.context), folder)).toMatchObject({ missing: [] })
    })
  })

  it('is found by digests that cannot be changed either', async () => {
    await withFolder(async (folder) => {
      const { world } = await exportFiles(folder, 1)
      const list = path.join(folder, 'file-digests.ndjson')
      await writeFile(list, (await readFile(list, 'utf8')).replace(/"sha256":"../, '"sha256":"00'))
      const refused = importInto(world.context, await emptyApp(world.context), folder)
      await expect(refused).rejects.toThrow(ExactRefusal)
      await expect(refused).rejects.toThrow('file-digests.ndjson is not as it was exported')
    })
  })

  it('is not found in an export of before there were digests, which says so', async () => {
    await withFolder(async (folder) => {
      const { world, keys, contentIn } = await exportFiles(folder, 2)
      const manifest = await readManifest(folder)
      const { digests: _, ...media } = manifest?.media ?? { files: 0, missing: [] }
      await writeFile(path.join(folder, 'manifest.json'), JSON.stringify({ ...manifest, media }))
      await rm(path.join(folder, 'file-digests.ndjson'))
      const target = await emptyApp(world.context)
      expect(await importInto(world.context, target, folder)).toEqual({
        wasThere: false,
        remarks: ['Files of which only the size could be checked, as the export has no digests of them: 2'],
        missing: [],
      })
      expect(await contentIn(target, keys[1] as string)).toBe(picture.content)
      expect(await importInto(world.context, target, folder)).toEqual({ wasThere: true, remarks: [], missing: [] })
    })
  })
})
