import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const repository = join(import.meta.dirname, '../..')

/** What the gate says about a tree of these files: of the service, or of a package that stands alone. */
async function judge(files: Record<string, string>, isAlone = false): Promise<{ code: number; text: string }> {
  const root = await mkdtemp(join(tmpdir(), 'parley-floors-'))
  const empty = await mkdtemp(join(tmpdir(), 'parley-floors-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
    await run(process.execPath, [join(repository, 'tools/floors.mjs'), ...(isAlone ? [empty, root] : [root])])
    return { code: 0, text: '' }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, text: stderr }
  } finally {
    for (const folder of [root, empty]) await rm(folder, { recursive: true })
  }
}

const lower = { 'chat/users/rows.ts': 'export const readUser = 1\n' }

it('lets imports point down', async () => {
  const files = { ...lower, 'areas/users/list.ts': "import { readUser } from '../../chat/users/rows.ts'\n" }
  expect(await judge(files)).toEqual({ code: 0, text: '' })
})

it('refuses an import that points up', async () => {
  const files = {
    'areas/users/list.ts': 'export const list = 1\n',
    'chat/users/rows.ts': "import {\n  list,\n} from '../../areas/users/list.ts'\n",
  }
  const { code, text } = await judge(files)
  expect(code).toBe(1)
  expect(text).toContain('chat/users/rows.ts imports areas/users/list.ts: up from chat to areas')
})

it('lets types come from above', async () => {
  const files = {
    'context.ts': 'export interface Context {}\n',
    'chat/users/rows.ts': "import type { Context } from '../../context.ts'\nimport { type App } from '../../call.ts'\n",
    'call.ts': 'export interface App {}\n',
  }
  expect(await judge(files)).toEqual({ code: 0, text: '' })
})

it('refuses an import past the index.ts of another area', async () => {
  const files = {
    'areas/roles/index.ts': 'export const a = 1\n',
    'areas/roles/roles.ts': 'export const b = 1\n',
    'areas/users/list.ts': "import { a } from '../roles/index.ts'\nexport { b } from '../roles/roles.ts'\n",
  }
  const { code, text } = await judge(files)
  expect(code).toBe(1)
  expect(text.trim().split('\n')).toHaveLength(1)
  expect(text).toContain('areas/users/list.ts imports areas/roles/roles.ts: past areas/roles/index.ts')
})

it('refuses one from the floors above, but for what is gathered of each area', async () => {
  const files = {
    'areas/roles/index.ts': 'export const a = 1\n',
    'areas/roles/operations.ts': 'export const b = 1\n',
    'areas/roles/role-operations.ts': 'export const c = 1\n',
    'areas/roles/roles.ts': 'export const d = 1\n',
    'areas/roles/tables.ts': 'export const e = 1\n',
    'app.ts': "import { a } from './areas/roles/index.ts'\nimport { b } from './areas/roles/operations.ts'\n",
    'routes.ts': "import './areas/roles/operations.ts'\nimport './areas/roles/role-operations.ts'\n",
    'sockets/receive.ts': "import { d } from '../areas/roles/roles.ts'\n",
    'tables.ts': "import { e } from './areas/roles/tables.ts'\nimport './areas/roles/roles.ts'\n",
  }
  const { code, text } = await judge(files)
  expect(code).toBe(1)
  expect(text.trim().split('\n')).toEqual([
    expect.stringContaining('app.ts imports areas/roles/operations.ts: past areas/roles/index.ts'),
    expect.stringContaining('sockets/receive.ts imports areas/roles/roles.ts: past areas/roles/index.ts'),
    expect.stringContaining('tables.ts imports areas/roles/roles.ts: past areas/roles/index.ts'),
  ])
})

it('refuses a file that stands on no floor', async () => {
  expect((await judge({ 'somewhere/new.ts': '' })).text).toContain('somewhere/new.ts stands on no floor')
})

it('is part of the lint command', async () => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } })
  expect(manifest.scripts.lint).toContain('tools/floors.mjs')
})

it('lets the client import itself, and nothing else, not even types', async () => {
  const inside = {
    'live/store.ts': "import type { User } from '../types.ts'\n",
    'types.ts': 'export interface User {}\n',
  }
  expect(await judge(inside, true)).toEqual({ code: 0, text: '' })
  const outside = {
    'a.ts': "import type { User } from '@parley/contract'\n",
    'b.ts': "import { readFile } from 'node:fs'\n",
    'c.ts': "export * from '../../contract/src/index.ts'\n",
  }
  const { code, text } = await judge(outside, true)
  expect(code).toBe(1)
  for (const name of ['@parley/contract', 'node:fs', '../../contract/src/index.ts']) expect(text).toContain(name)
})
