import { type Bench, runPlan, times } from '../bench.ts'
import type { Run, Scenario } from '../measure.ts'
import { postRequest, text } from '../requests.ts'

/** Those whose history is imported: each has one long conversation, some short ones and a group. */
export const hubs = 16
export const shortConversations = 29

/** The k-th member of a group; in each group others come first. */
export function memberOf(round: number, h: number, k: number, { users }: { users: number }): string {
  return `i${round}-u${hubs + ((k + h * 101) % (users - hubs))}`
}

const recordsPerRequest = 1000
const connections = 4
const start = 1_700_000_000
const timeoutSeconds = 300

export const hub = (round: number, h: number) => `i${round}-u${h}`
export const groupOf = (round: number, h: number) => `i${round}-g${h}`
/** Partner 0 is that of the long conversation. */
export const partner = (round: number, h: number, p: number) => `i${round}-u${hubs + h * (shortConversations + 1) + p}`

/** Each round imports users, groups, members and messages of its own. Counted is what the database holds afterwards. */
export function imports(bench: Bench): Scenario[] {
  const { extent } = bench
  const scenario = (kind: 'users' | 'members' | 'messages', build: (round: number) => object[][]): Scenario => ({
    id: `import-${kind}`,
    name: `Import of ${kind}, ${recordsPerRequest.toLocaleString('en')} a request, ${connections} connections`,
    beside: ['sql-1000'],
    async run(round) {
      if (kind === 'members') await importRecords(bench, 'groups', deal(groupRecords(round)))
      return importRecords(bench, kind, build(round))
    },
  })
  return [
    scenario('users', (round) => deal(userRecords(round, extent.users))),
    scenario('members', (round) => deal(memberRecords(round, extent))),
    scenario('messages', (round) => messageRecords(round, extent.messages)),
  ]
}

const tables = {
  users: 'users',
  groups: 'groups',
  members: 'group_members where explicit',
  messages: 'messages where imported',
}

/** @param lists for each connection the records that it sends, in order */
async function importRecords(bench: Bench, kind: keyof typeof tables, lists: object[][]): Promise<Run> {
  const { port, apiKey } = bench.service
  const stored = async () => {
    const { rows } = await bench.database.query<{ count: string }>(`select count(*) from ${tables[kind]}`)
    return Number(rows[0]?.count)
  }
  const requests = lists.map((records) =>
    times(Math.ceil(records.length / recordsPerRequest), (i) => {
      const body = { [kind]: records.slice(i * recordsPerRequest, (i + 1) * recordsPerRequest) }
      return postRequest(`/v3/data_import/${kind}`, body, { apiKey })
    }),
  )
  const before = await stored()
  const plan = { port, connections: requests, repeat: false, warmup: 0, seconds: timeoutSeconds }
  const run = await runPlan(bench, plan)
  const count = (await stored()) - before
  const refused = lists.flat().length - count
  return {
    ...run,
    count,
    failures: run.failures + refused,
    firstFailure: run.firstFailure ?? (refused === 0 ? undefined : `${refused} ${kind} were not stored`),
  }
}

function deal(records: object[]): object[][] {
  return times(connections, (c) => records.filter((_, i) => i % connections === c))
}

function userRecords(round: number, count: number): object[] {
  return times(count, (i) => ({
    uid: `i${round}-u${i}`,
    name: `Imported user ${i}`,
    avatar: `https://images.example.com/${i}.png`,
    createdAt: start,
    metadata: { email: `user${i}@example.com` },
  }))
}

function groupRecords(round: number): object[] {
  return times(hubs, (h) => ({
    guid: groupOf(round, h),
    name: `Imported group ${h}`,
    type: 'public',
    owner: hub(round, h),
    createdAt: start,
  }))
}

function memberRecords(round: number, extent: { users: number; members: number }): object[] {
  return times(extent.members, (i) => {
    const guid = groupOf(round, i % hubs)
    const uid = memberOf(round, i % hubs, Math.floor(i / hubs), extent)
    return { memberId: `${guid}_member_${uid}`, guid, uid, scope: 'participant', joinedAt: start + 60 }
  })
}

/** Of ten messages six are in the long conversation, two in the short ones, two in the group. */
function messageRecords(round: number, count: number): object[][] {
  const each = Math.floor(count / hubs)
  const historyOf = (h: number) =>
    times(each, (k) => {
      const receivers = { receiverType: 'user', receiver: partner(round, h, 0) }
      if (k % 10 >= 8) Object.assign(receivers, { receiverType: 'group', receiver: groupOf(round, h) })
      else if (k % 10 >= 6) {
        receivers.receiver = partner(round, h, 1 + (Math.floor(k / 5) % shortConversations))
      }
      const sender = hub(round, h)
      const turned = k % 2 === 1 && receivers.receiverType === 'user'
      return {
        muid: `i${round}-${h}-${k}`,
        sender: turned ? receivers.receiver : sender,
        receiverType: receivers.receiverType,
        receiver: turned ? sender : receivers.receiver,
        category: 'message',
        type: 'text',
        data: { text: `${text} (${k})` },
        sentAt: start + 120 + k * 60,
      }
    })
  return times(connections, (c) => times(hubs / connections, (i) => historyOf(c + i * connections)).flat())
}
