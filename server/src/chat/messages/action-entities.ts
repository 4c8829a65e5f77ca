/** What an action message is about somebody: who they are. Those of imports have the name of a conversation, too. */
const shown: ReadonlySet<string> = new Set(
  'uid name avatar link role status createdAt updatedAt conversationId'.split(' '),
)

/**
 * A user in the action message of a group event. It is kept, everybody in the group sees the same of it, and somebody can be
 * in it who knows nothing of the group, as they were banned from it. So it tells nobody whether they are there, and
 * nothing of their profile but name and face.
 */
export function userOfAction(user: object): object {
  const kept = Object.entries(user).filter(([name]) => shown.has(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, name === 'status' ? 'offline' : value]))
}

/** `data` of an action message with its own entities, as it is shown: older ones, and imported ones, were stored with all that was known. */
export function showActionData<Data extends Readonly<Record<string, unknown>>>(data: Data): Data {
  const { entities } = data
  if (!isObject(entities)) return data
  const shown = Object.entries(entities).map(([name, side]) => [
    name,
    isObject(side) && isObject(side.entity) && side.entityType === 'user'
      ? { ...side, entity: userOfAction(side.entity) }
      : side,
  ])
  return { ...data, entities: Object.fromEntries(shown) }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
