import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { version } from '../../src/version.ts'
import { ask, type Service, startParley } from '../http/watched.ts'
import { configOf, type Document, readDeploy, readDocuments } from './files.ts'

let documents: Document[]
let service: Service

const find = (kind: string) => documents.find((document) => document.kind === kind)
const pod = () => find('Deployment').spec.template
const container = () => pod().spec.containers[0]

function environment(): Record<string, string> {
  const own = container().env.map(({ name, value }: { name: string; value: string }) => [name, value])
  return { ...find('ConfigMap').data, ...Object.fromEntries(own) }
}

beforeAll(async () => {
  const files = ['parley', 'secret.example', 'autoscaling', 'ingress'].map((name) => `kubernetes/${name}.yaml`)
  documents = (await Promise.all(files.map(readDocuments))).flat()
  service = await startParley()
})
afterAll(() => service.parley.close())

describe('the manifests for Kubernetes', () => {
  it('set what the service knows, and what lets several replicas serve one chat', () => {
    expect(configOf(environment())).toMatchObject({
      databaseUrl: expect.any(String),
      redis: { url: expect.any(String) },
      mediaBucket: { secretAccessKey: expect.any(String) },
      masterKey: expect.any(String),
      apiKey: expect.any(String),
      authKey: 'off',
      requireHttps: true,
      workers: 1,
    })
    for (const value of Object.values(find('ConfigMap').data)) expect(typeof value).toBe('string')
  })

  it('hand over each secret as a file that is there', () => {
    const { mountPath } = container().volumeMounts.find(({ name }: { name: string }) => name === 'secrets')
    const { secret } = pod().spec.volumes.find(({ name }: { name: string }) => name === 'secrets')
    expect(secret.secretName).toBe(find('Secret').metadata.name)
    const files = Object.entries(environment()).filter(([name]) => name.endsWith('_FILE'))
    const keys = Object.keys(find('Secret').stringData)
    expect(files.map(([, file]) => file).sort()).toEqual(keys.map((key) => `${mountPath}/${key}`).sort())
  })

  it('probe paths and ports that the service has', async () => {
    const { port, metricsPort } = configOf(environment())
    const ports = Object.fromEntries(
      container().ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [
        name,
        containerPort,
      ]),
    )
    expect(ports).toEqual({ http: port, metrics: metricsPort })
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path, port: name } = container()[probe].httpGet
      expect(name, probe).toBe('http')
      expect((await ask(`${service.url}${path}`)).status, probe).toBe(200)
    }
    // One that waits for its database must not be restarted for it.
    expect(container().livenessProbe.httpGet.path).toBe('/health')
    expect(container().readinessProbe.httpGet.path).toBe('/ready')
    expect(pod().metadata.annotations['prometheus.io/port']).toBe(String(metricsPort))
  })

  it('replace one pod after the other, and leave each the time to close its sockets', () => {
    const { strategy, replicas } = find('Deployment').spec
    expect(strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } })
    expect(replicas).toBeGreaterThan(1)
    const [program, seconds] = container().lifecycle.preStop.exec.command
    const { periodSeconds, failureThreshold } = container().readinessProbe
    expect(program).toBe('sleep')
    expect(Number(seconds)).toBeGreaterThan(periodSeconds * failureThreshold)
    const stopSeconds = 10
    expect(pod().spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(seconds) + stopSeconds)
    expect(find('PodDisruptionBudget').spec.maxUnavailable).toBe(1)
  })

  it('belong together', async () => {
    const { labels } = pod().metadata
    expect(find('Deployment').spec.selector.matchLabels).toEqual(labels)
    expect(find('Service').spec.selector).toEqual(labels)
    expect(find('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels)
    expect(pod().spec.topologySpreadConstraints[0].labelSelector.matchLabels).toEqual(labels)
    expect(pod().spec.serviceAccountName).toBe(find('ServiceAccount').metadata.name)
    expect(container().envFrom).toEqual([{ configMapRef: { name: find('ConfigMap').metadata.name } }])
    expect(find('Service').spec.ports[0].targetPort).toBe('http')
    const backend = find('Ingress').spec.rules[0].http.paths[0].backend.service
    expect(backend).toEqual({ name: find('Service').metadata.name, port: { name: find('Service').spec.ports[0].name } })
    expect(`https://${find('Ingress').spec.rules[0].host}`).toBe(configOf(environment()).publicUrl)
    const { scaleTargetRef, metrics, minReplicas } = find('HorizontalPodAutoscaler').spec
    expect(scaleTargetRef.name).toBe(find('Deployment').metadata.name)
    expect(minReplicas).toBe(find('Deployment').spec.replicas)
    const figures = String((await ask(`${service.url}/metrics`)).body)
    expect(figures).toContain(`# TYPE ${metrics[0].pods.metric.name} gauge`)
  })

  it('run the image as it is made: its user, its ports, a read-only root with the folders that it writes to', async () => {
    const dockerfile = await readDeploy('Dockerfile')
    const [, user, group] = /^USER (\d+):(\d+)$/m.exec(dockerfile) ?? []
    expect(pod().spec.securityContext).toMatchObject({
      ...{ runAsNonRoot: true, runAsUser: Number(user), runAsGroup: Number(group), fsGroup: Number(group) },
    })
    expect(container().securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const writable = container().volumeMounts.filter(({ readOnly }: { readOnly?: boolean }) => readOnly !== true)
    expect(writable.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual([
      /^VOLUME (\S+)$/m.exec(dockerfile)?.[1],
      '/tmp',
    ])
    expect(dockerfile).toContain(`\nEXPOSE ${configOf(environment()).port}\n`)
    expect(container().image).toMatch(new RegExp(`:${version.replaceAll('.', '\\.')}$`))
    expect(pod().spec.enableServiceLinks).toBe(false)
  })
})
