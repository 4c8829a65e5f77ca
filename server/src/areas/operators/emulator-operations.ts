import { getEmulatorsJournal } from '@parley/contract'
import { request } from 'undici'
import { deployment } from '../../chat/audit/audit.ts'
import type { JournalLine } from '../../emulators/journal.ts'
import { type AdminRoute, serveAdmin } from './call.ts'
import { journalOfAllApps } from './errors.ts'
import { recordReads } from './readings.ts'

const patienceMs = 2_000

export const operations: readonly AdminRoute[] = [
  serveAdmin(getEmulatorsJournal, async ({ operator, query }, context) => {
    if (operator.apps !== null) {
      throw journalOfAllApps()
    }
    const { emulatorsUrl } = context.config
    const { reason = '' } = query
    if (emulatorsUrl === undefined) return { data: { isSet: false, lines: [] } }
    if (reason.trim().length < 3) return { data: { isSet: true, lines: [] } }
    await recordReads(context, deployment, operator, [emulatorsUrl], reason.trim())
    return { data: await readJournal(emulatorsUrl) }
  }),
]

async function readJournal(url: string) {
  try {
    const { statusCode, body } = await request(new URL('/journal', url), {
      ...{ headersTimeout: patienceMs, bodyTimeout: patienceMs, signal: AbortSignal.timeout(patienceMs) },
    })
    if (statusCode !== 200) {
      await body.dump()
      return { isSet: true, problem: `What runs at ${url} has no journal.`, lines: [] }
    }
    return { isSet: true, lines: ((await body.json()) as JournalLine[]).toReversed() }
  } catch {
    // Whatever went wrong, there is nothing to show: that is said to whoever looks.
    return {
      isSet: true,
      problem: `The emulators do not answer at ${url}. Start them with npm run emulate.`,
      lines: [],
    }
  }
}
