import type { Parley } from '../app.ts'
import type { Config } from '../config.ts'

/** Connections that wait to be taken in, as when every client reconnects at once; the system may allow fewer. */
const backlog = 4_096

export async function listen({ http }: Parley, { host, port }: Config): Promise<void> {
  await http.listen({ host, port, backlog })
}

/** A client whose request was under way keeps its connection once it is answered: it is closed as soon as it idles. */
export async function closeGently(parley: Parley): Promise<void> {
  const closing = setInterval(() => parley.http.server.closeIdleConnections(), 50)
  await parley.close()
  clearInterval(closing)
}
