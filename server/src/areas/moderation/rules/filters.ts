import type { ErrorDetail, RuleFilter } from '@parley/contract'

const operands: Readonly<Record<RuleFilter['entity'], readonly string[]>> = {
  user: ['uid', 'name', 'role', 'tags', 'createdAt', 'scope'],
  group: ['guid', 'name', 'type', 'tags', 'createdAt', 'scope'],
}

/** What is wrong with filters beyond the spelling of their members. */
export function flawsOfFilters(filters: readonly RuleFilter[]): ErrorDetail[] {
  return filters.flatMap(({ type, entity, operand, value }, index) => {
    const path = `body/filters/${index}`
    if (!operands[entity].includes(operand)) {
      return [{ path: `${path}/operand`, message: `is not one of a ${entity}: ${operands[entity].join(', ')}` }]
    }
    if (operand === 'scope' && entity === 'user' && type === 'receiver') {
      return [{ path: `${path}/operand`, message: 'is that of the sender' }]
    }
    if (operand === 'createdAt' && !/^[0-9]{1,11}(?:\s*,\s*[0-9]{1,11})*$/.test(value)) {
      return [{ path: `${path}/value`, message: 'must be epoch seconds' }]
    }
    return []
  })
}
