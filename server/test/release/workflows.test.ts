import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { version } from '../../src/version.ts'
import { repository, run } from './run.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, string>>
}

interface Job {
  readonly uses?: string
  readonly needs?: string | readonly string[]
  readonly steps?: readonly Step[]
  readonly 'timeout-minutes'?: number
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions?: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const folder = path.join(repository, '.github/workflows')
const workflows = new Map<string, Workflow>()

beforeAll(async () => {
  for (const name of await readdir(folder)) {
    // Strict: a key that is there twice is an error.
    workflows.set(name, parse(await readFile(path.join(folder, name), 'utf8')))
  }
})

const jobs = () =>
  [...workflows].flatMap(([file, { jobs }]) => Object.entries(jobs).map(([name, job]) => ({ file, name, job })))
const steps = () =>
  jobs().flatMap(({ file, name, job }) => (job.steps ?? []).map((step) => ({ where: `${file}: ${name}`, step })))
const commands = () =>
  steps().flatMap(({ where, step }) => (step.run === undefined ? [] : [{ where, command: step.run }]))

describe('the workflows', () => {
  it('call scripts, files, jobs and workflows that are there', async () => {
    expect([...workflows.keys()].sort()).toEqual(['release.yml', 'test.yml'])
    const { scripts } = JSON.parse(await readFile(path.join(repository, 'package.json'), 'utf8'))
    const called = commands().flatMap(({ command }) =>
      [...command.matchAll(/npm run (?:-s )?(\S+)/g)].map(([, name]) => name),
    )
    expect(called.sort()).toEqual(['pack', 'test:long'])
    for (const name of called) expect(scripts).toHaveProperty([name as string])
    const named = [
      ...commands().flatMap(({ command }) => command.match(/(?<![\w./-])(?:\.ci|tools|deploy)\/[\w./-]+/g) ?? []),
      ...steps().flatMap(({ step }) => step.with?.file ?? []),
      ...jobs().flatMap(({ job }) => job.uses ?? []),
    ]
    expect(named).toEqual(expect.arrayContaining(['.ci/run', 'deploy/Dockerfile', 'tools/changelog.mjs']))
    for (const file of named) expect((await stat(path.join(repository, file))).isFile(), file).toBe(true)
    expect((await stat(path.join(repository, '.ci/run'))).mode & 0o111).not.toBe(0)
    for (const { file, name, job } of jobs()) {
      for (const needed of [job.needs ?? []].flat()) expect(workflows.get(file)?.jobs, name).toHaveProperty(needed)
    }
  })

  it('have commands that a shell can read', async () => {
    for (const { where, command } of commands()) {
      const shell = spawn('bash', ['-n'], { stdio: ['pipe', 'ignore', 'pipe'] })
      shell.stdin.end(command.replace(/\$\{\{[^}]*\}\}/g, 'x'))
      const [said] = await Promise.all([text(shell.stderr), once(shell, 'exit')])
      expect(said, where).toBe('')
      // What others can write into a name or a title never becomes part of a command.
      expect(command, where).not.toContain('${{')
    }
  })

  it('run actions of others at one commit, with as few rights as they need and an end', () => {
    for (const { where, step } of steps()) {
      if (step.uses !== undefined) expect(step.uses, where).toMatch(/^[\w.-]+\/[\w.-]+@[0-9a-f]{40}$/)
    }
    for (const [file, { permissions }] of workflows) expect(permissions, file).toEqual({ contents: 'read' })
    for (const { name, job } of jobs())
      if (job.uses === undefined) expect(job['timeout-minutes'], name).toBeLessThan(120)
    for (const { where, step } of steps()) {
      if (step.uses?.startsWith('actions/checkout@')) expect(step.with?.['persist-credentials'], where).toBe(false)
    }
  })

  it('release what npm run pack makes, from a tag of the version that is tested', async () => {
    const { on, jobs } = workflows.get('release.yml') as Workflow
    expect(on).toEqual({ push: { tags: ['v*'] } })
    for (const name of ['package', 'image']) expect(jobs[name]?.needs).toBe('test')
    const publish = commands().find(({ command }) => command.includes('npm publish'))?.command ?? ''
    const names = /for name in (.*); do/.exec(publish)?.[1]?.split(' ')
    // React depends on the client, so it comes after it.
    expect(names).toEqual(['parley-client', 'parley-react', 'parley'])
    const notes = await run(repository, process.execPath, ['tools/changelog.mjs', version])
    expect(notes).toMatch(/^The first version|^### /)
    expect(notes).not.toContain('\n## ')
    await expect(run(repository, process.execPath, ['tools/changelog.mjs', '9.9.9'])).rejects.toThrow('not 9.9.9')
  })
})

describe('tools/version.mjs', () => {
  it('sets the version wherever it stands', async () => {
    const copy = await mkdtemp(path.join(os.tmpdir(), 'parley-version-'))
    try {
      const { workspaces } = JSON.parse(await readFile(path.join(repository, 'package.json'), 'utf8'))
      const manifests = ['.', ...workspaces].map((name: string) => path.join(name, 'package.json'))
      for (const file of [...manifests, 'package-lock.json', 'tools/version.mjs', 'deploy/kubernetes/parley.yaml']) {
        await cp(path.join(repository, file), path.join(copy, file))
      }
      await run(copy, process.execPath, ['tools/version.mjs', '9.8.7'])
      for (const file of [...manifests, 'package-lock.json', 'deploy/kubernetes/parley.yaml']) {
        const content = await readFile(path.join(copy, file), 'utf8')
        expect(content, file).toContain('9.8.7')
        expect(content.match(/("@parley\/\w+"|^ {2}"version"): "(?!9\.8\.7)/m), file).toBeNull()
      }
      await expect(run(copy, process.execPath, ['tools/version.mjs', 'next'])).rejects.toThrow('three numbers')
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  })
})
