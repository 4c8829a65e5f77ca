import { access, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Agreements } from './follow/both-ways.ts'
import type { Hints } from './follow/hints.ts'
import { type Looking, look } from './follow/look.ts'
import { takeAdditions, takeCredentials } from './follow/people.ts'
import type { Sides } from './follow/sides.ts'
import { heed, sweep } from './follow/sweep.ts'
import { writeBack } from './follow/write-back.ts'
import type { Journal } from './journal.ts'
import type { MoveState } from './state.ts'

export interface Following {
  readonly sides: Sides
  readonly folder: string
  readonly journal: Journal<MoveState>
  /** After the cut-over, what both sides agreed on. */
  readonly agreements: Agreements
  /** Bring what people do in the target after the cut-over to the source. */
  readonly writesBack: boolean
  /** What webhooks of the source name; undefined where none are taken. */
  readonly hints: Hints | undefined
  /** Milliseconds between two looks at the source. */
  readonly interval: number
  /** Seconds that each look goes back beyond the one before: what is written late appears behind the newest. */
  readonly overlap: number
  /** Milliseconds between two sweeps, which compare sets of ids. */
  readonly sweepEvery: number
  /** Aborted to cut over. */
  readonly cutOver: AbortSignal
  note(text: string): void
  /** Milliseconds. */
  now(): number
  sleep(milliseconds: number): Promise<void>
}

/** Milliseconds between two looks that webhooks ask for. */
const shortest = 250

/**
 * Brings what changes in the source to the target until cut-over. Each look takes new messages by their time and changed
 * ones by `updatedAt`; sweeps find what leaves no trace in either. At cut-over it looks until nothing new comes, and sweeps
 * completely.
 */
export async function follow(following: Following): Promise<void> {
  const { sides, folder, journal, note, now } = following
  const { state } = journal
  const hasCutOver = state.cutOver !== undefined
  const flag = path.join(folder, 'cut-over')
  const isAsked = async () => {
    if (following.cutOver.aborted) return true
    return access(flag).then(
      () => true,
      () => false,
    )
  }
  /** One look, after which a run that is killed goes on. */
  const taken: Looking['taken'] = new Map()
  const lookOnce = async (): Promise<number> => {
    const began = now()
    const { agreements } = following
    if (state.cutOver !== undefined && following.writesBack) await writeBack({ sides, journal, agreements })
    const found = await look({ sides, state, agreements, taken }, (state.followed ?? state.started) - following.overlap)
    state.followed = Math.floor(began / 1000)
    note(`${((now() - began) / 1000).toFixed(1)} s behind: ${found} new messages since the last look`)
    return found
  }
  const asked = untilAborted(following.cutOver)
  const pause = () =>
    Promise.race([
      following.sleep(following.interval),
      asked,
      ...(following.hints === undefined ? [] : [following.hints.next().then(() => following.sleep(shortest))]),
    ])
  if (hasCutOver) note('Cut over before: only what is new or changed is taken, nothing is removed.')
  else if (!sides.removes) note('The app had data of its own before: what is gone in the source is not removed.')

  const addOnce = async (since = state.added ?? state.cutOver) => {
    const began = Math.floor(now() / 1000)
    state.met ??= {}
    await takeAdditions(sides, state.met, (since ?? began) - following.overlap)
    state.added = began
  }
  let swept = now()
  /** Looks go on beside a sweep, which may take long: both ask again before they do something. */
  let sweeping: Promise<void> = Promise.resolve()
  let isSweeping = false
  let failure: { readonly error: unknown } | undefined
  while (await lookOnce().then(async () => !(await isAsked()))) {
    if (failure !== undefined) throw failure.error
    if (!isSweeping && now() - swept >= following.sweepEvery) {
      isSweeping = true
      sweeping = (hasCutOver ? addOnce() : sweep(sides, false))
        .catch((error: unknown) => {
          failure = { error }
        })
        .finally(() => {
          isSweeping = false
          swept = now()
        })
    }
    const hinted = following.hints?.take()
    if (hinted !== undefined && !hasCutOver) await heed(sides, hinted)
    // Once people write on both sides, a group may have changed on either: only who is new is taken.
    else if (hinted !== undefined && hinted.groups.size > 0) await addOnce()
    await pause()
  }
  note('Cutting over: what is left is taken, and everything is compared by its ids.')
  const drain = async () => {
    for (let found = await lookOnce(); found > 0; found = await lookOnce()) {
      note('The old service is still written to.')
      await following.sleep(following.interval)
    }
  }
  await Promise.all([sweeping, drain()])
  if (failure !== undefined) throw failure.error
  if (hasCutOver) await addOnce()
  else {
    const began = Math.floor(now() / 1000)
    await sweep(sides, true)
    await drain()
    // Remembers who came last, so that those who are removed in the target from now on do not come back.
    await addOnce(began)
    await takeCredentials(sides)
    state.cutOver = Math.floor(now() / 1000)
  }
  await rm(flag, { force: true })
  await journal.save()
  note('Cut over: nothing is left.')
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
