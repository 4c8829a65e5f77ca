import type { JsonRecord } from '../import/records.ts'
import type { Remote, RemoteAnswer } from './remote.ts'

/** What a request with too many records is answered, or with too much in them. */
const refusals = [400, 413]

/** Some records and what they were answered; alone in their request where it was refused. */
export interface SentRecords<Sent extends JsonRecord> {
  readonly records: readonly Sent[]
  readonly answer: RemoteAnswer
}

/**
 * Sends records to be imported. How many a request may have is a setting of the target: what is refused as a whole is sent in
 * halves, one after the other.
 */
export async function sendRecords<Sent extends JsonRecord>(
  target: Remote,
  kind: string,
  records: readonly Sent[],
): Promise<Array<SentRecords<Sent>>> {
  const answer = await target.send('POST', `/data_import/${kind}`, { [kind]: records }, { expected: refusals })
  if (answer.status === 200 || records.length <= 1) return [{ records, answer }]
  const middle = Math.ceil(records.length / 2)
  const before = await sendRecords(target, kind, records.slice(0, middle))
  return [...before, ...(await sendRecords(target, kind, records.slice(middle)))]
}
