const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g

/** Whether a placeholder begins and does not end. */
export function findUnclosed(text: string): boolean {
  const rest = text.replaceAll(placeholder, '')
  return rest.includes('{{')
}

/**
 * Fills `{{message.data.text}}` and the like. A path may also leave out `message.`, and be followed by the forms of what is
 * counted. Only the data's own members count.
 * @returns undefined when anything that is named is not there; an empty text is there
 */
export function fill(template: string, data: object): string | undefined {
  let isMissing = false
  const filled = template.replaceAll(placeholder, (_, named: string) => {
    const value = filledBy(named, data)
    if (value === undefined) isMissing = true
    return value ?? ''
  })
  return isMissing ? undefined : filled
}

/** The same, with what is not there left empty. */
export function fillLoosely(template: string, data: object): string {
  return template.replaceAll(placeholder, (_, named: string) => filledBy(named, data) ?? '')
}

/** Forms may follow a path: `messages.length | message | messages` is `1 message`, `2 messages`. */
function filledBy(named: string, data: object): string | undefined {
  const [path = '', one, other] = named.split('|').map((part) => part.trim())
  const value = valueAt(path, data) ?? valueAt(`message.${path}`, data)
  if (value === undefined || one === undefined || other === undefined) return value
  return `${value} ${value === '1' ? one : other}`
}

/** A text, a number or a truth value; lists give their length. */
function valueAt(path: string, data: object): string | undefined {
  let value: unknown = data
  for (const name of path.split('.')) {
    if (Array.isArray(value) && name === 'length') {
      value = value.length
      continue
    }
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
