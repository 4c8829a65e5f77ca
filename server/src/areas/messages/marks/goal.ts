/** What an interactive message asks of each who gets it: `data.interactionGoal`. */
interface Goal {
  readonly type: unknown
  readonly elementIds: readonly unknown[]
}

/** Do these elements, which one user has used, reach the goal of a message? One that names no goal has none. */
export function reachesGoal(data: Readonly<Record<string, unknown>>, used: ReadonlySet<string>): boolean {
  const goal = data.interactionGoal as Partial<Goal> | null | undefined
  const wanted = Array.isArray(goal?.elementIds) ? goal.elementIds : []
  const isUsed = (id: unknown) => typeof id === 'string' && used.has(id)
  switch (goal?.type) {
    case 'anyAction':
      return used.size > 0
    case 'anyOf':
    case 'oneOf':
      return wanted.some(isUsed)
    case 'allOf':
      return wanted.length > 0 && wanted.every(isUsed)
    default:
      return false
  }
}
