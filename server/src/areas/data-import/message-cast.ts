import { type GroupRow, readGroups } from '../../chat/groups/rows.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { type Foresight, type ImportResult, type ImportRow, readForesight, retryMeetings } from '../messages/index.ts'
import { makeGroups } from './make-groups.ts'
import { enrol, holdUsers } from './memberships.ts'
import { type Failure, refuseMessage } from './outcomes.ts'
import { type Links, openRoster, type Present, type Roster, readPresent } from './roster.ts'
import { makeUsers } from './users.ts'

export type Refusals = Array<Failure | undefined>

/** What became of the records of a request, and everybody whom they name. */
export interface Written {
  readonly users: ReadonlyMap<string, UserRow>
  readonly groups: ReadonlyMap<string, GroupRow>
  readonly refusals: Refusals
  /** Of those that were not refused before. */
  readonly results: ReadonlyMap<ImportRow, ImportResult>
}

/** Another request has taken a muid that was free when this one looked: what was made for it must go, and it begins anew. */
export class Overtaken extends Error {}

/** Each time another request was stored in the meantime. */
const maxAttempts = 10

/**
 * Makes the users and groups that messages bring along, and stores the messages, in one transaction: what is refused
 * leaves nothing behind.
 * @throws Overtaken when others take their muids again and again
 */
export async function writeWithCast(
  context: Context,
  appId: number,
  rows: readonly ImportRow[],
  links: readonly Links[],
  now: number,
): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await retryMeetings(() =>
        context.database.transaction((tx) => writeOnce(context, tx, appId, rows, links, now)),
      )
    } catch (error) {
      if (!(error instanceof Overtaken) || attempt === maxAttempts) throw error
    }
  }
}

async function writeOnce(
  context: Context,
  tx: Transaction,
  appId: number,
  rows: readonly ImportRow[],
  links: readonly Links[],
  now: number,
): Promise<Written> {
  const present = await readPresent(context, tx, appId, links)
  const { roster, refusals } = admitAll(present, await readForesight(tx, appId, rows), links, rows)
  const users = await makeUsers(context, tx, appId, roster.newUsers, now)
  const owners = await holdUsers(
    tx,
    appId,
    roster.newGroups.map(({ owner }) => owner),
  )
  const { founders } = await makeGroups(tx, context.secrets, appId, roster.newGroups, now)
  await enrol(tx, appId, founders, owners, now)
  const guids = roster.newGroups.map(({ details }) => details.guid.toLowerCase())
  const groups = await readGroups(tx, appId, guids)

  const admitted = rows.filter((_, place) => refusals[place] === undefined)
  const results = admitted.length === 0 ? [] : await context.messages.imports.writeWithin(tx, admitted)
  if (results.some((result) => 'refusal' in result)) throw new Overtaken()
  return {
    users: new Map([...present.users, ...users]),
    groups: new Map([...present.groups, ...groups]),
    refusals,
    results: resultsOf(admitted, results),
  }
}

/** What became of rows, by row. */
export function resultsOf(
  rows: readonly ImportRow[],
  results: readonly ImportResult[],
): ReadonlyMap<ImportRow, ImportResult> {
  return new Map(rows.map((row, place) => [row, results[place] as ImportResult]))
}

/**
 * Decides who is refused, so that nothing is made for them. A refused record takes along those that need what it brings,
 * so it is asked again until nobody else is refused.
 */
function admitAll(
  present: Present,
  foresee: Foresight,
  links: readonly Links[],
  rows: readonly ImportRow[],
): { roster: Roster; refusals: Refusals } {
  const refusals: Refusals = links.map(() => undefined)
  for (;;) {
    const admitted = refusals.filter((refusal) => refusal === undefined).length
    const roster = openRoster(present)
    for (const [place, link] of links.entries()) refusals[place] ??= roster.admit(link)
    const foreseen = foresee(rows.filter((_, place) => refusals[place] === undefined))
    for (const [place, row] of rows.entries()) {
      const refusal = foreseen.get(row)
      if (refusal !== undefined) refusals[place] = refuseMessage(refusal, row, foresee.holderOf(row))
    }
    if (refusals.filter((refusal) => refusal === undefined).length === admitted) return { roster, refusals }
  }
}
