import { exitCodes, ImportFailure } from '../import/failure.ts'
import { idsFile } from './ids.ts'
import type { Journal } from './journal.ts'
import { rowsOf } from './lists.ts'
import type { Remote } from './remote.ts'
import type { MoveState } from './state.ts'

/**
 * Makes a target the one that a folder is moved into. What is known of messages there and how far it was followed is of one target:
 * for another nothing of it holds, least of all that what the source lacks may be removed.
 * @param folder as people call it
 * @param options.mayChange not where both sides are only compared
 * @throws ImportFailure where the folder is of another one, and follows it
 */
export async function takeTarget(
  folder: string,
  journal: Journal<MoveState>,
  target: Remote,
  { mayChange }: { readonly mayChange: boolean },
): Promise<void> {
  const { state } = journal
  adopt(state, target)
  const { name } = target
  if (state.target !== undefined && state.target !== name) {
    if (!mayChange || state.followed !== undefined)
      throw new ImportFailure(
        exitCodes.usage,
        `${folder} is a move into ${state.target}, not ${name}; name that one as before (--url, --app), or choose another folder`,
      )
    state.target = name
    await journal.clear(idsFile)
  }
  if (!mayChange) return
  state.target = name
  await journal.save()
}

/**
 * Takes over what a folder has whose checkpoint does not name its target. Versions that wrote it remembered that the first target was
 * empty, and by their addresses alone which ones messages were handed to.
 */
function adopt(state: MoveState, { url, name }: Remote): void {
  if (state.target !== undefined) return
  const { targetWasEmpty, handedTo = [] } = state
  delete state.targetWasEmpty
  const [first = url] = handedTo
  if (state.followed !== undefined && handedTo.length > 0 && !handedTo.includes(url)) state.target = first
  else if (targetWasEmpty !== undefined) {
    state.adopted = name
    state.handedTo = handedTo.map((handed) => (handed === url ? name : handed))
    if (first === url) state.wasEmpty = { [name]: targetWasEmpty }
  }
}

/** Whether a target had no users, groups and messages when the folder was first moved into it. */
export async function wasEmpty(journal: Journal<MoveState>, target: Remote): Promise<boolean> {
  const { state } = journal
  const known = state.wasEmpty?.[target.name]
  if (known !== undefined) return known
  const found = await isEmpty(target)
  state.wasEmpty = { ...state.wasEmpty, [target.name]: found }
  await journal.save()
  return found
}

async function isEmpty(target: Remote): Promise<boolean> {
  const lists = ['/users?withDeactivated=true&perPage=1', '/groups?perPage=1', '/messages?limit=1']
  const answers = await Promise.all(lists.map((list) => target.get(list)))
  return answers.every(({ body }, place) => rowsOf(target, lists[place]!, body).length === 0)
}
