import pg from 'pg'
import { progress } from '../progress.ts'
import { credentials } from '../requests.ts'
import { scaleWorld } from '../seed/sizes.ts'
import { seedWorld } from '../seed/world.ts'
import type { Service } from '../service.ts'

const senders = 40

/** Fills the app of a service with a world, so many times as large as one with a million messages. */
export async function fillWorld(service: Service, scale: number): Promise<void> {
  const client = new pg.Client(service.database)
  await client.connect()
  try {
    const { rows } = await client.query<{ app_id: number }>(`select app_id from apps where name = 'parley'`)
    await seedWorld(client, rows[0]?.app_id as number, scaleWorld(scale), { progress })
  } finally {
    await client.end()
  }
}

/** Users of the world write to each other in turn. */
export function messageOf({ apiKey }: Service) {
  return (n: number) => ({
    path: '/v3/messages',
    headers: credentials({ apiKey, as: `u${1 + (n % senders)}` }),
    body: JSON.stringify({
      ...{ receiver: `u${101 + (n % senders)}`, receiverType: 'user', category: 'message', type: 'text' },
      data: { text: `message number ${n}, about as long as what people write to each other` },
    }),
  })
}
