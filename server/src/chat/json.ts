declare const written: unique symbol

/** JSON, written out: of a value of this type. What is stored as JSON goes through to answers like this, never parsed. */
export type JsonText<Value = unknown> = string & { readonly [written]: Value }

/** Writes out a value. */
export function toJson<Value>(value: Value): JsonText<Value> {
  return JSON.stringify(value) as JsonText<Value>
}
