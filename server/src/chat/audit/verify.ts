import type { Queryable } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import { headOf, readChain } from './chain.ts'
import { type ChainedEntry, chainedColumns } from './entries.ts'
import { flawOf, isEqual, linkOf, macOfChain, nonceOf } from './seal.ts'

const atOnce = 1_000
const mostFlaws = 100

const selectLinked = statement(`
  select ${chainedColumns}
  from audit_log
  where app_id = $1
  and seq > $2
  order by seq
  limit ${atOnce}`)

const selectUnlinked = statement(`
  select ${chainedColumns}
  from audit_log
  where app_id = $1
  and seq is null
  and id > $2
  order by id
  limit ${atOnce}`)

const hasBefore = statement(`
  select true as "isThere"
  from audit_log
  where app_id = $1
  and seq <= $2
  limit 1`)

/** What was found in the audit log of an app. */
export interface Verified {
  /** Entries that were looked at. */
  readonly entries: number
  /** Of these, entries that are not linked yet. */
  readonly unlinked: number
  /** The end of the chain: its number and link. */
  readonly head: string
  /** What is wrong, the first hundred; nothing where all is as it was written. */
  readonly flaws: readonly string[]
}

/**
 * Looks whether the audit log of an app is as the service wrote it: every entry, their order, and that none is missing.
 * @param expected an end of the chain that was noted before, which must still be in it
 */
export async function verifyAuditLog(
  on: Queryable,
  secrets: Pick<Secrets, 'digest'>,
  appId: number,
  expected?: string,
): Promise<Verified> {
  for (;;) {
    const beginning = (await readChain(on, appId))?.sinceSeq
    const verified = await verifyOnce(on, secrets, appId, expected)
    // Retention takes the oldest entries meanwhile: what seems to be missing may have gone by that.
    if (verified.flaws.length === 0 || (await readChain(on, appId))?.sinceSeq === beginning) return verified
  }
}

async function verifyOnce(
  on: Queryable,
  secrets: Pick<Secrets, 'digest'>,
  appId: number,
  expected: string | undefined,
): Promise<Verified> {
  const flaws: string[] = []
  const note = (flaw: string) => {
    if (flaws.length < mostFlaws) flaws.push(flaw)
  }
  // Read first: what is linked meanwhile is beyond it.
  const chain = await readChain(on, appId)
  if (chain !== undefined && !isEqual(chain.mac, macOfChain(secrets, appId, chain))) {
    note('where the chain begins and ends is not as the service wrote it')
  }
  let seq = chain?.sinceSeq ?? 0
  let link: Buffer = chain?.sinceLink ?? Buffer.alloc(0)
  const end = chain?.seq ?? 0
  let entries = 0
  let hasExpected = expected === undefined || expected === headOf({ seq, link })
  const nonces = new Set<string>()
  const outside = async (since: number) => (await on.query(hasBefore, [appId, since])).length > 0
  if (chain === undefined) {
    // Unless the first were linked at this moment.
    const isGone = (await outside(Number.MAX_SAFE_INTEGER)) && (await readChain(on, appId)) === undefined
    if (isGone) note('where the chain begins and ends is gone')
  } else if (await outside(seq)) note('there are entries before the chain begins: it was begun anew')
  const look = (entry: ChainedEntry) => {
    entries++
    // From before there were seals: it is given one when it is linked.
    if (entry.seq === null && entry.seal === null && entry.id <= (chain?.adoptedTo ?? entry.id)) return
    const flaw = flawOf(secrets, appId, entry, entry)
    if (flaw !== undefined) note(`entry ${entry.id} ${flaw}`)
    if (entry.seal === null) return
    if (nonces.has(nonceOf(entry.seal))) note(`entry ${entry.id} is there twice`)
    nonces.add(nonceOf(entry.seal))
  }
  for (let isMore = seq < end; isMore; ) {
    const page = await on.query<ChainedEntry & { seq: number; link: Buffer }>(selectLinked, [appId, seq])
    for (const entry of page) {
      if (entry.seq > end) break
      if (entry.seq !== seq + 1) note(`${entry.seq - seq - 1} entries are missing before entry ${entry.id}`)
      else if (!isEqual(entry.link, linkOf(secrets, appId, link, entry.seq, entry.seal))) {
        note(`entry ${entry.id} does not follow the one before it`)
      }
      look(entry)
      seq = entry.seq
      link = entry.link
      if (expected === headOf({ seq, link })) hasExpected = true
    }
    isMore = page.length === atOnce && seq < end
  }
  if (seq < end) note(`the last ${end - seq} entries are missing`)
  else if (chain !== undefined && !isEqual(link, chain.link)) note('the last entry is not the one that was linked last')
  if (!hasExpected) note(`the entry ${expected?.split(':')[0]} that was noted is not in the chain`)
  const linked = entries
  for (let after = 0, isMore = true; isMore; ) {
    const page = await on.query<ChainedEntry>(selectUnlinked, [appId, after])
    page.forEach(look)
    after = page.at(-1)?.id ?? after
    isMore = page.length === atOnce
  }
  return { entries, unlinked: entries - linked, head: headOf({ seq: end, link: chain?.link ?? link }), flaws }
}
