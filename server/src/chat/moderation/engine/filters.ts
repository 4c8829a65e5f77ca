import type { Filter, JudgedGroup, JudgedMessage, JudgedUser } from '../model.ts'

/** Whether a rule applies to a message: all of its filters must be met. */
export function applies(filters: readonly Filter[], message: JudgedMessage): boolean {
  return filters.every((filter) => meets(filter, message))
}

function meets(filter: Filter, message: JudgedMessage): boolean {
  const found = valuesOf(filter, message)
  if (found === undefined) return false
  const has = (test: (value: string) => boolean) => found.some(test)
  const value = normal(filter.value)
  switch (filter.operator) {
    case 'equals':
      return has((one) => one === value)
    case 'notEquals':
      return !has((one) => one === value)
    case 'in':
      return has((one) => listed(filter.value).includes(one))
    case 'notIn':
      return !has((one) => listed(filter.value).includes(one))
    case 'startsWith':
      return has((one) => one.startsWith(value))
    case 'endsWith':
      return has((one) => one.endsWith(value))
    case 'lessThan':
      return has((one) => isLess(one, value))
    case 'greaterThan':
      return has((one) => isLess(value, one))
  }
}

/**
 * What a filter compares; undefined where the message has no such user or group, so that the rule does not apply. Groups
 * are those that a message is sent to, whichever type the filter names.
 */
function valuesOf({ type, entity, operand }: Filter, message: JudgedMessage): readonly string[] | undefined {
  const group = 'guid' in message.receiver ? message.receiver : undefined
  if (entity === 'group') return group && ofGroup(group, operand)
  if (type === 'sender') {
    if (operand === 'scope') return group?.scope === undefined ? [] : [normal(group.scope)]
    return ofUser(message.sender, operand)
  }
  return 'uid' in message.receiver ? ofUser(message.receiver, operand) : undefined
}

function ofUser(user: JudgedUser, operand: string): readonly string[] | undefined {
  if (operand === 'uid') return [normal(user.uid)]
  if (operand === 'role') return [normal(user.role)]
  return ofBoth(user, operand)
}

function ofGroup(group: JudgedGroup, operand: string): readonly string[] | undefined {
  if (operand === 'guid') return [normal(group.guid)]
  if (operand === 'type') return [normal(group.type)]
  if (operand === 'scope') return group.scope === undefined ? [] : [normal(group.scope)]
  return ofBoth(group, operand)
}

function ofBoth(one: JudgedUser | JudgedGroup, operand: string): readonly string[] | undefined {
  if (operand === 'name') return [normal(one.name)]
  if (operand === 'tags') return one.tags.map(normal)
  return operand === 'createdAt' ? [String(one.createdAt)] : undefined
}

const normal = (value: string) => value.trim().toLowerCase()
const listed = (value: string) => value.split(',').map(normal)

/** Numbers as numbers; everything else by its characters. */
function isLess(one: string, other: string): boolean {
  const [left, right] = [Number(one), Number(other)]
  return Number.isNaN(left) || Number.isNaN(right) ? one < other : left < right
}
