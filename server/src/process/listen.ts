import { lookup } from 'node:dns/promises'
import type { Parley } from '../app.ts'
import type { Config } from '../config/index.ts'

/** Connections that wait to be taken in, as when every client reconnects at once; the system may allow fewer. */
export const backlog = 4_096

/** A name that stands for several addresses, as localhost does, is listened on at the first of them. */
export async function listen(
  { http, metricsHttp, adminHttp }: Parley,
  { host, port, metricsPort, adminPort }: Config,
): Promise<void> {
  const { address } = await lookup(host)
  if (metricsPort !== undefined) await metricsHttp?.listen({ host: address, port: metricsPort })
  if (adminPort !== undefined) await adminHttp?.listen({ host: address, port: adminPort })
  await http.listen({ host: address, port, backlog })
}
