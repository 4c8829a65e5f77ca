import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import * as contract from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStage } from '../faults/support/stage.ts'
import { describeWith, findProgram } from '../gate/needs.ts'
import { anchorsOf } from '../support/headings.ts'
import { run } from '../support/install.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'
import { type Document, deployFolder, readDeploy, readDocuments } from './files.ts'
import { type Prometheus, prometheusServer, watchService } from './prometheus.ts'

const folder = path.join(deployFolder, 'monitoring')
const promtool = {
  isMet: findProgram('promtool') !== undefined,
  otherwise: 'there is no promtool on the PATH',
  inGate: true,
}
const [alerts] = await readDocuments('monitoring/alerts.yml')
const rules: Document[] = alerts.groups.flatMap((group: Document) => group.rules)
const dashboard: Document = JSON.parse(await readDeploy('monitoring/grafana.json'))
const panels: Document[] = dashboard.panels.filter(({ type }: Document) => type !== 'row')
const questions: string[] = panels.flatMap(({ targets }) => targets.map(({ expr }: Document) => expr))

const operations = Object.values<Document>(contract).filter((one) => typeof one?.path === 'string')

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
        if (anchor !== undefined) expect([...anchorsOf(text)], `${alert}: ${page}`).toContain(anchor)
      }
      for (const [, method, asked = ''] of annotations.action.matchAll(/\b(GET|POST|PUT|DELETE) (\/[\w/{}.-]+)/g)) {
        const isServed = operations.some((one) => one.method === method && `/v3${one.path}` === asked)
        expect(isServed || ['/health', '/ready'].includes(asked), `${alert}: ${method} ${asked}`).toBe(true)
      }
      // Levels of the log are numbers.
      expect(annotations.action, alert).not.toMatch(/"level":(?!\d0\b)/)
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

describeWith(promtool, 'promtool', () => {
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

describeWith(prometheusServer, 'a Prometheus that watches a service', () => {
  const stage = createStage()
  let service: Awaited<ReturnType<typeof stage.start>>
  let prometheus: Prometheus
  let port: number
  let dataDir: string
  const start = () => stage.start({ DATA_DIR: dataDir, PORT: String(port), DEMO: 'off' })

  beforeAll(async () => {
    ;[port, dataDir] = [await findFreePort(), stage.makeDataDir()]
    service = await start()
    await service.ready
    prometheus = await watchService(stage, port)
  })
  afterAll(() => stage.clean())

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
          if ((await prometheus.ask(expr.replaceAll('$job', '.+'))).length === 0) silent.add(title)
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
    await soon(async () => expect(await prometheus.firing()).toEqual([]))
    await service.kill()
    await soon(async () => expect(await prometheus.firing()).toEqual(['ParleyDown']))
    service = await start()
    await service.ready
    await soon(async () => expect(await prometheus.firing()).toEqual([]))
  })
})
