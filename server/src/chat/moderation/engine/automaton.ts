/**
 * Aho-Corasick over typed arrays. States are numbered breadth first, so the children of a state lie side by side: those of
 * `s` are `first[s]` to `first[s + 1]`, each with the character that leads to it, in order. It can be handed from a thread to
 * another without a copy.
 */
export interface Automaton {
  readonly first: Uint32Array
  /** The character that leads to each state. */
  readonly labels: Uint16Array
  /** The state of the longest other end of what led here. */
  readonly fail: Uint32Array
  /** The key that ends here, counted from 1; 0 where none does. */
  readonly keys: Uint32Array
  /** The next state on the way of `fail` at which a key ends; 0 where there is none. */
  readonly shorter: Uint32Array
}

/** @param keys in order, each once, none empty */
export function buildAutomaton(keys: readonly string[]): Automaton {
  let size = 1
  for (let index = 0; index < keys.length; index += 1)
    size += keys[index]!.length - sharedLength(keys[index - 1] ?? '', keys[index]!)
  const automaton = {
    first: new Uint32Array(size + 1),
    labels: new Uint16Array(size),
    fail: new Uint32Array(size),
    keys: new Uint32Array(size),
    shorter: new Uint32Array(size),
  }
  const { first, labels, fail, shorter } = automaton
  // The keys that go through a state lie side by side, too.
  const from = new Uint32Array(size)
  const to = new Uint32Array(size)
  const depth = new Uint16Array(size)
  to[0] = keys.length
  let states = 1
  for (let state = 0; state < size; state += 1) {
    first[state] = states
    let index = from[state]!
    const end = to[state]!
    const at = depth[state]!
    if (index < end && keys[index]!.length === at) {
      automaton.keys[state] = index + 1
      index += 1
    }
    while (index < end) {
      const label = keys[index]!.charCodeAt(at)
      const child = states
      states += 1
      from[child] = index
      while (index < end && keys[index]!.charCodeAt(at) === label) index += 1
      to[child] = index
      depth[child] = at + 1
      labels[child] = label
    }
  }
  first[size] = states
  for (let state = 1, parent = 0; state < size; state += 1) {
    while (first[parent + 1]! <= state) parent += 1
    const back = parent === 0 ? 0 : step(automaton, fail[parent]!, labels[state]!)
    fail[state] = back
    shorter[state] = automaton.keys[back] === 0 ? shorter[back]! : back
  }
  return automaton
}

function sharedLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1
  return length
}

/** The state after another character. */
export function step(automaton: Automaton, from: number, code: number): number {
  for (let state = from; ; state = automaton.fail[state]!) {
    const next = childOf(automaton, state, code)
    if (next !== 0) return next
    if (state === 0) return 0
  }
}

function childOf({ first, labels }: Automaton, state: number, code: number): number {
  let low = first[state]!
  let high = first[state + 1]! - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const label = labels[middle]!
    if (label === code) return middle
    if (label < code) low = middle + 1
    else high = middle - 1
  }
  return 0
}
