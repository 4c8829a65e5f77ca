import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { describeWith, inLongSuite, itWith } from '../gate/needs.ts'
import { ask } from '../http/watched.ts'
import { installInto, run } from '../support/install.ts'
import { createWorld, type World } from '../support/world.ts'

/** They want another TypeScript. */
const toolsFolder = path.join(import.meta.dirname, 'tools')
const tools = await installInto(toolsFolder)
const generated = path.join(toolsFolder, 'generated')
const bin = (name: string) => path.join(toolsFolder, 'node_modules', '.bin', name)
/** TypeScript 5, which most have, is for the long run: that of this repository takes a fifth of its time. */
const compiler = inLongSuite.isMet
  ? bin('tsc')
  : path.join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc')

/** Half a minute each; the newest is tried for each change. */
const older = ['0.92', '0.93', '0.94']

/** Runs a tool, which must find nothing to complain about. */
async function pass(program: string, args: readonly string[], environment?: object): Promise<string> {
  const { code, said } = await run(toolsFolder, program, args, environment)
  expect(code, said).toBe(0)
  return said
}

describeWith(tools, 'what others read the reference with', () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
    await rm(generated, { recursive: true, force: true })
    await mkdir(generated)
    for (const name of ['openapi.json', 'asyncapi.json']) {
      const { body } = await ask(`${world.url}/${name}`)
      await writeFile(path.join(generated, name), JSON.stringify(body, null, 1))
    }
  })

  it('redocly finds neither errors nor warnings in /openapi.json', async () => {
    const said = await pass(bin('redocly'), ['lint', '--format=json', 'generated/openapi.json'], {
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    })
    const { totals } = JSON.parse(said.slice(said.indexOf('{\n'), said.lastIndexOf('}') + 1))
    expect(totals, said).toMatchObject({ errors: 0, warnings: 0 })
  })

  it("Scalar's parser finds no error in /openapi.json", async () => {
    await pass('node', ['check-openapi.mjs', 'generated/openapi.json'])
  })

  it("AsyncAPI's parser finds neither errors nor warnings in /asyncapi.json", async () => {
    await pass('node', ['check-asyncapi.mjs', 'generated/asyncapi.json'])
  })

  /** Makes the twenty main calls with a client that was generated, once it compiles. */
  const passCalls = async (program: string, prefix: string) => {
    const said = await pass('node', [`generated/built/programs/${program}.js`], {
      PARLEY_URL: `${world.url}/v3`,
      PARLEY_API_KEY: world.apiKey,
      PARLEY_APP_ID: world.app.name,
      PARLEY_PREFIX: prefix,
    })
    expect(said).toBe('done\n')
  }

  it('a client that openapi-typescript generates compiles with the twenty main calls, and makes them', async () => {
    await pass(bin('openapi-typescript'), ['generated/openapi.json', '-o', 'generated/openapi.d.ts'])
    await pass(compiler, ['-p', 'tsconfig.openapi-typescript.json'])
    await passCalls('openapi-typescript', 'openapi-typescript')
  })

  // One after the other, since the program of the calls has one place where it finds them.
  for (const version of [...older, '0.95']) {
    const need = older.includes(version) ? inLongSuite : tools
    const name = `a client that hey-api ${version} generates compiles with the twenty main calls, and makes them`
    itWith(need, name, async () => {
      const generate = path.join('node_modules', `hey-api-${version}`, 'bin/run.js')
      await pass('node', [generate, '-i', './generated/openapi.json', '-o', 'generated/hey', '--no-log-file'])
      await pass(compiler, ['-p', 'tsconfig.hey-api.json'])
      await passCalls('hey-api', `hey-api-${version.replace('.', '-')}`)
    })
  }
})
