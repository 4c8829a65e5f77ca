import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStage } from '../faults/support/stage.ts'
import { describeWith, findProgram } from '../gate/needs.ts'
import { run } from '../support/install.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'
import { type Document, deployFolder, readDeploy, readDocuments } from './files.ts'

const folder = path.join(deployFolder, 'monitoring')
const need = (name: string) => {
  return { isMet: findProgram(name) !== undefined, otherwise: `there is no ${name} on the PATH`, inGate: true }
}
const [alerts] = await readDocuments('monitoring/alerts.yml')
const rules: Document[] = alerts.groups.flatMap((group: Document) => group.rules)
const dashboard: Document = JSON.parse(await readDeploy('monitoring/grafana.json'))
const panels: Document[] = dashboard.panels.filter(({ type }: Document) => type !== 'row')
const questions: string[] = panels.flatMap(({ targets }) => targets.map(({ expr }: Document) => expr))

describe('deploy/monitoring', () => {
  it('asks only for metrics that the service has', async () => {
    const sources = path.join(import.meta.dirname, '../../src')
    const files = (await readdir(sources, { recursive: true })).filter((file) => file.endsWith('.ts'))
    const texts = await Promise.all(files.map((file) => readFile(path.join(sources, file), 'utf8')))
    const known = new Set(texts.flatMap((text) => text.match(/(?<=')parley_[a-z_]+(?=')/g) ?? []))
    const asked = [...questions, ...rules.map(({ expr }) => expr)].flatMap(
      (text) => text.match(/parley_[a-z_]+/g) ?? [],
    )
    const unknown = asked.filter((name) => !known.has(name) && !known.has(name.replace(/_(bucket|sum|count)$/, '')))
    expect(unknown).toEqual([])
    expect(new Set(asked).size).toBeGreaterThan(25)
  })

  it('says of each alert how urgent it is, what is wrong and what to do, and sends nobody to a page that is not there', async () => {
    for (const { alert, labels, annotations } of rules) {
      expect(['page', 'ticket'], alert).toContain(labels.severity)
      expect(annotations.summary.length * annotations.action.length, alert).toBeGreaterThan(400)
      for (const [, page = '', anchor] of annotations.action.matchAll(/(docs\/[\w-]+\.md)(?:#([\w-]+))?/g)) {
        const text = await readFile(path.join(deployFolder, '..', page), 'utf8')
        const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => anchorOf(title))
        if (anchor !== undefined) expect(headings, `${alert}: ${page}`).toContain(anchor)
      }
    }
  })

  it('tests each alert both ways: that it fires, and that it is quiet again', async () => {
    const [{ tests }] = await readDocuments('monitoring/alerts.test.yml')
    const outcomes = tests.flatMap(({ alert_rule_test }: Document) =>
      alert_rule_test.map(
        ({ alertname, exp_alerts }: Document) => `${alertname} ${exp_alerts.length > 0 ? 'fires' : 'is quiet'}`,
      ),
    )
    expect(outcomes).toEqual(rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} is quiet`]))
  })
})

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
}

describeWith(need('promtool'), 'promtool', () => {
  it('finds nothing wrong with the configuration, and each alert does what its test says', async () => {
    for (const args of [
      ['check', 'config', 'prometheus.yml'],
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ]) {
      const { code, said } = await run(folder, 'promtool', args)
      expect(code, said).toBe(0)
    }
  })
})

describeWith(need('prometheus'), 'a Prometheus that watches a service', () => {
  const stage = createStage()
  let service: Awaited<ReturnType<typeof stage.start>>
  let prometheus: string
  let port: number
  let dataDir: string
  const start = () => stage.start({ DATA_DIR: dataDir, PORT: String(port), DEMO: 'off' })

  beforeAll(async () => {
    ;[port, dataDir] = [await findFreePort(), stage.makeFolder()]
    service = await start()
    await service.ready
    const place = stage.makeFolder()
    // In a hurry: as often as can be, and without waiting whether it lasts.
    const config = (await readDeploy('monitoring/prometheus.yml'))
      .replaceAll(': 15s', ': 1s')
      .replace('8080', String(port))
    await writeFile(path.join(place, 'prometheus.yml'), config)
    await writeFile(
      path.join(place, 'alerts.yml'),
      (await readDeploy('monitoring/alerts.yml')).replaceAll(/for: \w+/g, 'for: 0s'),
    )
    const own = await findFreePort()
    prometheus = `http://127.0.0.1:${own}`
    const args = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${own}`]
    const child = spawn('prometheus', args, { cwd: place, stdio: 'ignore' })
    const ended = once(child, 'exit')
    stage.onClean(async () => {
      child.kill('SIGKILL')
      await ended
    })
    await soon(async () => expect(await ask('up{job="parley"}')).toMatchObject([{ value: [expect.any(Number), '1'] }]))
  })
  afterAll(() => stage.clean())

  async function ask(query: string): Promise<Document[]> {
    const answer = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query })}`)
    const { status, data, error } = (await answer.json()) as Document
    expect(status, `${query}: ${error}`).toBe('success')
    return data.result
  }
  const firing = async () => (await ask('ALERTS{alertstate="firing"}')).map(({ metric }) => metric.alertname)

  it('understands every question of the dashboard, and has answers to those about the service alone', async () => {
    const lively = [
      'Processes',
      'Open sockets',
      'Connections',
      'What waits',
      'CPU',
      'Memory',
      'Versions',
      'Job runners',
    ]
    const findSilent = async () => {
      const silent = new Set<string>()
      for (const { title, targets } of panels) {
        for (const { expr } of targets) {
          if ((await ask(expr.replaceAll('$job', '.+'))).length === 0) silent.add(title)
        }
      }
      return silent
    }
    // What needs Redis, workers, providers or traffic has nothing to show here; a rate needs to be looked at twice.
    await soon(async () => {
      const silent = await findSilent()
      expect(lively.filter((title) => silent.has(title))).toEqual([])
    })
    const titles = panels.map(({ title }) => title)
    expect(lively.filter((title) => !titles.includes(title))).toEqual([])
  })

  it('raises an alert when the service is killed, and drops it when it is back', async () => {
    await soon(async () => expect(await firing()).toEqual([]))
    await service.kill()
    await soon(async () => expect(await firing()).toEqual(['ParleyDown']))
    service = await start()
    await service.ready
    await soon(async () => expect(await firing()).toEqual([]))
  })
})
