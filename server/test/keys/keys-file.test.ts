import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parse } from 'dotenv'
import { expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../src/config/index.ts'
import { changeKeysFile, loadKeys, masterKeySource } from '../../src/keys-file.ts'
import { asRoot, itWith } from '../gate/needs.ts'

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'keys-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

it('a master key that is given is not kept beside the data, and a start without it says so and makes no other', async () => {
  const folder = await makeFolder()
  const file = path.join(folder, 'keys.env')
  const masterKey = 'ab'.repeat(32)
  const given = readConfig({ PARLEY_MASTER_KEY: masterKey })
  const { apiKey, authKey } = await loadKeys(given, folder)
  const text = await readFile(file, 'utf8')
  expect(parse(text)).toEqual({ PARLEY_API_KEY: apiKey, PARLEY_AUTH_KEY: authKey })

  await expect(loadKeys(readConfig({}), folder)).rejects.toThrow(
    /holds no valid PARLEY_MASTER_KEY\. Set PARLEY_MASTER_KEY/,
  )
  expect(await readFile(file, 'utf8')).toBe(text)
  expect(await loadKeys(given, folder)).toMatchObject({ apiKey, authKey, masterKey, isNew: false })
})

it('a master key that was kept stays, whatever is given', async () => {
  const folder = await makeFolder()
  const { masterKey } = await loadKeys(readConfig({}), folder)
  const other = 'cd'.repeat(32)
  expect((await loadKeys(readConfig({ PARLEY_MASTER_KEY: other }), folder)).masterKey).toBe(other)
  expect((await loadKeys(readConfig({}), folder)).masterKey).toBe(masterKey)
})

itWith(asRoot, 'keys that root changes can be read by the user of the service as before', async () => {
  const file = path.join(await makeFolder(), 'keys.env')
  await writeFile(file, 'PARLEY_API_KEY=a\n', { mode: 0o600 })
  await chown(file, 1234, 2345)
  await changeKeysFile(file, { PARLEY_MASTER_KEY: 'b' })
  expect(await readFile(file, 'utf8')).toBe('PARLEY_API_KEY=a\nPARLEY_MASTER_KEY=b\n')
  const { uid, gid, mode } = await stat(file)
  expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 1234, gid: 2345, mode: 0o600 })
})

it('a variable that names no file counts as missing, so that the master key is that of the file of keys', async () => {
  const file = path.join(await makeFolder(), 'keys.env')
  const masterKey = 'ef'.repeat(32)
  await writeFile(file, `PARLEY_MASTER_KEY=${masterKey}\n`)
  for (const empty of ['', ' ']) {
    const source = masterKeySource({ PARLEY_MASTER_KEY_FILE: empty }, file)
    expect(source).toMatchObject({ name: file, isInFile: true })
    expect(await source.read()).toBe(masterKey)
  }
})
