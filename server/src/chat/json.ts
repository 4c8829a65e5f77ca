declare const written: unique symbol

/** JSON, written out: of a value of this type. What is stored as JSON goes through to answers like this, never parsed. */
export type JsonText<Value = unknown> = string & { readonly [written]: Value }

/** Writes out a value. */
export function toJson<Value>(value: Value): JsonText<Value> {
  return JSON.stringify(value) as JsonText<Value>
}

/** Writes out an answer with a list. All texts are joined at once: what is put around a long one afterwards copies it. */
export function writeList(items: readonly JsonText[], meta: object): JsonText {
  const end = `],"meta":${toJson(meta)}}`
  const [first] = items
  if (first === undefined) return `{"data":[${end}` as JsonText
  const texts: string[] = items.slice()
  texts[0] = `{"data":[${first}`
  texts[texts.length - 1] += end
  return texts.join(',') as JsonText
}

/** Deeper than any record of an import that is taken; what lies below is left as it is. */
const mendedDepth = 64

/** Replaces broken surrogates in all texts of a parsed JSON value, in place, since the database takes none. */
export function makeWellFormed(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (typeof value !== 'object' || value === null || depth >= mendedDepth) return value
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = makeWellFormed(value[i], depth + 1)
    return value
  }
  const object = value as Record<string, unknown>
  for (const key of Object.keys(object)) {
    const member = object[key]
    const mended = makeWellFormed(member, depth + 1)
    if (key.isWellFormed()) {
      if (mended !== member) object[key] = mended
    } else {
      delete object[key]
      object[key.toWellFormed()] = mended
    }
  }
  return value
}
