import type { TObject, TSchema } from 'typebox'

type RawQuery = Record<string, string | string[] | undefined>
type Read = (raw: string | string[]) => unknown

/**
 * Makes the function that turns a raw query into what the operation's schema describes: numbers, booleans (`1`, `0`,
 * `true`, `false`), arrays (comma-joined, repeated or `key[]`). Names are matched without regard to case and `_`
 * (`per_page` is `perPage`). What cannot be converted is left as it is, for validation to name; unknown parameters
 * and empty values are dropped, lists of nothing (`,`) among them.
 */
export function compileQueryReader(schema: TObject): (raw: RawQuery) => Record<string, unknown> {
  const parameters = new Map<string, { name: string; read: Read }>()
  for (const [name, property] of Object.entries(schema.properties as Record<string, TSchema>)) {
    parameters.set(fold(name), { name, read: readerOf(property) })
  }
  return (raw) => {
    const query: Record<string, unknown> = {}
    for (const [rawName, value] of Object.entries(raw)) {
      const parameter = parameters.get(fold(rawName.endsWith('[]') ? rawName.slice(0, -2) : rawName))
      if (parameter === undefined || value === undefined || value === '') continue
      const read = parameter.read(value)
      if (!Array.isArray(read) || read.length > 0) query[parameter.name] = read
    }
    return query
  }
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll('_', '')
}

function readerOf(schema: TSchema): Read {
  switch ((schema as { type?: string }).type) {
    case 'array': {
      const readItem = readerOf((schema as unknown as { items: TSchema }).items)
      return (raw) => [raw].flat().flatMap(splitList).map(readItem)
    }
    case 'integer':
    case 'number':
      return readNumber
    case 'boolean':
      return (raw) => (raw === '1' || raw === 'true' ? true : raw === '0' || raw === 'false' ? false : raw)
    default:
      return (raw) => raw
  }
}

/** What a double does not hold exactly stays text. */
function readNumber(raw: string | string[]): unknown {
  if (typeof raw !== 'string' || !/^-?\d{1,16}(\.\d{1,9})?$/.test(raw)) return raw
  return Math.abs(Number(raw)) <= Number.MAX_SAFE_INTEGER ? Number(raw) : raw
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
