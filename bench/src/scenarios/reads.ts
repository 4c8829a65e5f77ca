import { type Bench, repeat, times } from '../bench.ts'
import type { Scenario } from '../measure.ts'
import { getRequest } from '../requests.ts'
import { groupOf, hub, hubs, partner, shortConversations } from './imports.ts'

const connections = 64
const limit = 30

/** Reads what the first round has imported, so they come after that. */
export function reads(bench: Bench): Scenario[] {
  const { apiKey, port } = bench.service
  const get = (h: number, path: string) => getRequest(`/v3${path}`, { apiKey, as: hub(0, h) })
  const dealt = (requests: string[]) =>
    times(connections, (c) => rotate(requests, Math.floor((c * requests.length) / connections)))
  const newest = `affix=prepend&limit=${limit}`
  let older: Promise<string[]> | undefined

  return [
    {
      id: 'history-newest',
      name: `History, newest page of ${limit}`,
      run: () => {
        const pages = times(hubs, (h) =>
          times(shortConversations + 1, (p) => get(h, `/users/${partner(0, h, p)}/messages?${newest}`)),
        )
        return repeat(bench, port, dealt(pages.flat()))
      },
    },
    {
      id: 'history-back',
      name: `History, paging back, ${limit} a page`,
      run: async () => {
        older ??= Promise.all(times(hubs, (h) => walkBack(bench, h))).then((walks) =>
          walks.flatMap((paths, h) => paths.map((path) => get(h, path))),
        )
        return repeat(bench, port, dealt(await older))
      },
    },
    {
      id: 'history-group',
      name: `History of a group, newest page of ${limit}`,
      run: () => repeat(bench, port, dealt(times(hubs, (h) => get(h, `/groups/${groupOf(0, h)}/messages?${newest}`)))),
    },
    {
      id: 'conversations',
      name: 'Conversation lists, first page',
      run: () => repeat(bench, port, dealt(times(hubs, (h) => get(h, '/conversations')))),
    },
  ].map((scenario) => ({ ...scenario, name: `${scenario.name}, ${connections} connections`, beside: ['empty-64'] }))
}

interface Page {
  data: unknown[]
  meta: { cursor?: { id: string; sentAt: number }; previous?: object }
}

/** Walks the long conversation of a hub from its end to its beginning, once; gives the addresses of its pages. */
async function walkBack({ service }: Bench, h: number): Promise<string[]> {
  const path = `/users/${partner(0, h, 0)}/messages?affix=prepend&limit=${limit}`
  const paths: string[] = []
  for (let cursor = ''; ; ) {
    const answer = await fetch(`http://127.0.0.1:${service.port}/v3${path}${cursor}`, {
      headers: { apikey: service.apiKey, onbehalfof: hub(0, h) },
    })
    if (!answer.ok) throw new Error(`paging back: ${answer.status} ${await answer.text()}`)
    const { meta } = (await answer.json()) as Page
    if (cursor !== '') paths.push(path + cursor)
    if (meta.previous === undefined || meta.cursor === undefined) return paths
    cursor = `&id=${meta.cursor.id}&sentAt=${meta.cursor.sentAt}`
  }
}

function rotate<T>(values: T[], by: number): T[] {
  return [...values.slice(by), ...values.slice(0, by)]
}
