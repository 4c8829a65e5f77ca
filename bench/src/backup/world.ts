import pg from 'pg'
import { progress } from '../progress.ts'
import { credentials } from '../requests.ts'
import { scaleWorld } from '../seed/sizes.ts'
import { seedWorld } from '../seed/world.ts'
import type { Service } from '../service.ts'

/** Each with a conversation of their own: a message a second or so in each is a lively one. */
const senders = 400

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

/** The n-th user of the world, from 1, who is not deactivated: one in 97 is. */
const activeUser = (n: number) => `u${n + Math.floor(n / 96)}`

/** Users of the world write to others in turn. */
export function messageOf({ apiKey }: Service) {
  return (n: number) => {
    const sender = 1 + (n % senders)
    return {
      path: '/v3/messages',
      headers: credentials({ apiKey, as: activeUser(sender) }),
      body: JSON.stringify({
        ...{ receiver: activeUser(senders + sender), receiverType: 'user', category: 'message', type: 'text' },
        data: { text: `message number ${n}, about as long as what people write to each other` },
      }),
    }
  }
}
