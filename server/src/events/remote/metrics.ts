import { Counter, Gauge, type Registry } from 'prom-client'

/** Prometheus metrics of the line to other processes. */
export function createRemoteMetrics(registry: Registry, state: { isOpen: () => boolean; peers: () => number }) {
  new Gauge({
    name: 'parley_redis_up',
    help: '1 while the process hears other processes over Redis',
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.set(state.isOpen() ? 1 : 0)
    },
  })
  new Gauge({
    name: 'parley_remote_processes',
    help: 'Other processes connected over Redis',
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.set(state.peers())
    },
  })
  const events = new Counter({
    name: 'parley_remote_events_total',
    help: 'Events published to other processes, received from them, and dropped because Redis was away for too long',
    labelNames: ['direction'],
    registers: [registry],
  })
  // From the start: to Prometheus, a count that appears late has not risen to where it begins.
  for (const direction of ['sent', 'received', 'dropped']) events.inc({ direction }, 0)
  return {
    events,
    forged: new Counter({
      name: 'parley_remote_forged_total',
      help: 'Packets on the channel of this deployment in Redis that none of its processes sent; they are dropped',
      registers: [registry],
    }),
    resyncs: new Counter({
      name: 'parley_remote_resyncs_total',
      help: 'How often state that follows the events of others was read anew, and whether one of them was missed',
      labelNames: ['missed'],
      registers: [registry],
    }),
  }
}
