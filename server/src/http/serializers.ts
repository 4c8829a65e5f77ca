import build from 'fast-json-stringify'
import { Serialized } from '../call.ts'

type Serializer = (answer: unknown) => string

const compiled = new WeakMap<object, Serializer>()

/**
 * Compiles what writes the answers of an operation when the first one is written, once for all servers of a process. To
 * compile all of them takes a good part of a start, and a service is rarely asked for most of them.
 */
export function serializerOf({ schema }: { readonly schema: object }): Serializer {
  return (answer) => {
    if (answer instanceof Serialized) return answer.text
    let serialize = compiled.get(schema)
    if (serialize === undefined) {
      serialize = build(schema) as Serializer
      compiled.set(schema, serialize)
    }
    return serialize(answer)
  }
}
