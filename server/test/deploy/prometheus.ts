import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import type { Stage } from '../faults/support/stage.ts'
import { findProgram, type Need } from '../gate/needs.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'
import { type Document, readDeploy } from './files.ts'

export const prometheusServer: Need = {
  isMet: findProgram('prometheus') !== undefined,
  otherwise: 'there is no prometheus on the PATH',
  inGate: true,
}

/** Debian's Prometheus, which watches one service by the files of `deploy/monitoring`. */
export interface Prometheus {
  ask(query: string): Promise<Document[]>
  /** Names of the alerts that fire. */
  firing(): Promise<string[]>
}

/**
 * In a hurry: it looks each second.
 * @param port of the service
 * @param hasten what else is changed in the rules
 */
export async function watchService(
  stage: Stage,
  port: number,
  hasten: (rules: string) => string = (rules) => rules,
): Promise<Prometheus> {
  const place = stage.makeFolder()
  const config = (await readDeploy('monitoring/prometheus.yml'))
    .replaceAll(': 15s', ': 1s')
    .replace('8080', String(port))
  // Without waiting whether it lasts.
  const rules = (await readDeploy('monitoring/alerts.yml')).replaceAll(/for: \w+/g, 'for: 0s')
  await writeFile(path.join(place, 'prometheus.yml'), config)
  await writeFile(path.join(place, 'alerts.yml'), hasten(rules))
  const own = await findFreePort()
  const args = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${own}`]
  const child = spawn('prometheus', args, { cwd: place, stdio: 'ignore' })
  const ended = once(child, 'exit')
  stage.onClean(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const ask = async (query: string): Promise<Document[]> => {
    const answer = await fetch(`http://127.0.0.1:${own}/api/v1/query?${new URLSearchParams({ query })}`)
    const { status, data, error } = (await answer.json()) as Document
    expect(status, `${query}: ${error}`).toBe('success')
    return data.result
  }
  await soon(async () => expect(await ask('up{job="parley"}')).toMatchObject([{ value: [expect.any(Number), '1'] }]))
  return {
    ask,
    firing: async () => (await ask('ALERTS{alertstate="firing"}')).map(({ metric }) => metric.alertname),
  }
}
