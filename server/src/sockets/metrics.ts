import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../metrics.ts'

/** Prometheus metrics of the sockets of one process. */
export interface SocketMetrics {
  readonly closes: Counter<'reason'>
  readonly frames: Counter<'type'>
}

/** @param countOpen how many sockets are open, asked when metrics are read */
export function createSocketMetrics({ registry }: Metrics, countOpen: () => number): SocketMetrics {
  new Gauge({
    name: 'parley_sockets',
    help: 'Open sockets',
    registers: [registry],
    collect() {
      this.set(countOpen())
    },
  })
  return {
    closes: new Counter({
      name: 'parley_socket_closes_total',
      help: 'Sockets that the service closed, by reason',
      labelNames: ['reason'],
      registers: [registry],
    }),
    frames: new Counter({
      name: 'parley_socket_frames_total',
      help: 'Frames from clients, by type',
      labelNames: ['type'],
      registers: [registry],
    }),
  }
}
