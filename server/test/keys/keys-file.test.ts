import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { changeKeysFile } from '../../src/keys-file.ts'
import { asRoot, itWith } from '../gate/needs.ts'

itWith(asRoot, 'keys that root changes can be read by the user of the service as before', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'keys-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'keys.env')
  await writeFile(file, 'PARLEY_API_KEY=a\n', { mode: 0o600 })
  await chown(file, 1234, 2345)
  await changeKeysFile(file, { PARLEY_MASTER_KEY: 'b' })
  expect(await readFile(file, 'utf8')).toBe('PARLEY_API_KEY=a\nPARLEY_MASTER_KEY=b\n')
  const { uid, gid, mode } = await stat(file)
  expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 1234, gid: 2345, mode: 0o600 })
})
