import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import type { WorkerSetup } from './foundation.ts'

/** What a worker sends to the primary. */
export type FromWorker =
  /** It runs, and waits for what it is built with. */
  | { readonly type: 'hello' }
  /** It brings the database up to date, or waits for whoever does or keeps it from that, and says so again and again. */
  | { readonly type: 'migrating' }
  /** It serves. */
  | { readonly type: 'ready'; readonly address: AddressInfo }
  /** It cannot start, and ends. */
  | { readonly type: 'failed'; readonly reason: string }
  /** Somebody asks it for the metrics of all workers. */
  | { readonly type: 'metrics wanted'; readonly id: number }
  /** It is there. An open inspector may hold it at any time. */
  | { readonly type: 'here'; readonly isInspected: boolean }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: readonly MetricJson[] }
  /** What it has counted, as it ends. */
  | { readonly type: 'last metrics'; readonly metrics: readonly MetricJson[] }

/** What the primary sends to a worker. */
export type FromPrimary =
  | { readonly type: 'begin'; readonly number: number; readonly setup: WorkerSetup }
  /** It takes no more connections, finishes what runs, and ends. */
  | { readonly type: 'stop' }
  /** It says that it is there. */
  | { readonly type: 'there?' }
  | { readonly type: 'metrics asked'; readonly id: number }
  | { readonly type: 'metrics text'; readonly id: number; readonly text: string }

export type MetricJson = MetricObjectWithValues<MetricValue<string>>

export function addressOf(http: FastifyInstance): AddressInfo {
  return http.server.address() as AddressInfo
}
