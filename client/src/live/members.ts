import type { Signal } from '../platform.ts'
import { createAsker } from './asker.ts'
import type { CreateCell } from './cell.ts'
import type { GroupMember, MemberList, MembersSnapshot } from './interface.ts'
import { type Listed, mayPass, type Port, totalOf } from './port.ts'
import type { Insist } from './retries.ts'
import { createTurns } from './turns.ts'

export interface OpenMembers extends MemberList {
  /** Somebody has come, gone or got another scope: what is loaded is read again. */
  changed(): void
  reload(signal?: Signal): Promise<void>
}

const pageSize = 100

/** Members of a group, in the order of the service, by page. */
export function createMembers(
  guid: string,
  cell: CreateCell,
  port: Port,
  insist: Insist,
  close: () => void,
): OpenMembers {
  let shown: MembersSnapshot = { members: [], hasMore: true, isLoaded: false }
  const turns = createTurns()
  const view = cell(() => shown)
  const become = (next: MembersSnapshot) => {
    shown = next
    view.changed()
  }
  const read = async (from: number, pages: number, signal: Signal | undefined) => {
    const members = new Map(shown.members.slice(0, from * pageSize).map((member) => [member.uid, member]))
    try {
      let hasMore = true
      for (let page = from + 1; page <= from + pages && hasMore; page++) {
        const path = `/groups/${encodeURIComponent(guid)}/members`
        const query = { page, perPage: pageSize }
        const answer = await port.call<Listed<GroupMember>>('GET', path, { query, signal })
        for (const member of answer.data) members.set(member.uid, member)
        hasMore = page * pageSize < totalOf(answer)
      }
      become({ members: [...members.values()], hasMore, isLoaded: true })
    } catch (error) {
      if (signal?.aborted) throw error
      become(mayPass(error) ? { ...shown, error } : { members: [], hasMore: false, isLoaded: true, error })
      throw error
    }
  }
  const loaded = () => Math.max(1, Math.ceil(shown.members.length / pageSize))
  const reload = (signal?: Signal) => turns.take(guid, () => read(0, loaded(), signal))

  const { ask } = createAsker(async () => void (await insist(reload)))

  return {
    ...view,
    loadMore: (signal) =>
      turns.take(guid, async () => {
        if (shown.hasMore) await read(Math.floor(shown.members.length / pageSize), 1, signal)
      }),
    close,
    changed: () => ask(guid),
    reload,
  }
}
