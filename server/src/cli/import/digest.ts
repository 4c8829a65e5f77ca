/** 64 bits of a text as two unsigned 32-bit halves. Spreads well; not meant against somebody who wants collisions. */
export function digest(text: string): [high: number, low: number] {
  let high = 0x243f6a88
  let low = 0x85a308d3 ^ text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    high = Math.imul(high ^ unit, 0x9e3779b1)
    high = (high << 13) | (high >>> 19)
    low = Math.imul(low ^ unit, 0x5bd1e995)
    low = (low << 7) | (low >>> 25)
  }
  const crossed = stir(high ^ Math.imul(low, 0x27d4eb2f))
  return [crossed, stir(low ^ Math.imul(crossed, 0x165667b1))]
}

function stir(value: number): number {
  let bits = value ^ (value >>> 16)
  bits = Math.imul(bits, 0x7feb352d)
  bits ^= bits >>> 15
  bits = Math.imul(bits, 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** A set of texts that remembers 8 bytes of each, so that the ids of ten million messages fit in some 120 MB. */
export interface DigestSet {
  /** True when the text was not there before. */
  add(text: string): boolean
  has(text: string): boolean
}

const tableCount = 64
const fullest = 0.85

interface Table {
  /** Pairs of high and low; (0, 0) is an empty slot. */
  slots: Uint32Array
  used: number
}

/**
 * Among ten million texts, one is mistaken for another in about one of 300,000 runs. Many small tables, each of which
 * grows for itself, spare the memory that one large table would need twice while it grows.
 */
export function createDigestSet(): DigestSet {
  const tables: Table[] = Array.from({ length: tableCount }, () => ({ slots: new Uint32Array(2 * 16), used: 0 }))

  const find = (text: string): [table: Table, slot: number, high: number, low: number] => {
    const [high, anyLow] = digest(text)
    const low = high === 0 && anyLow === 0 ? 1 : anyLow
    const table = tables[high % tableCount]!
    return [table, slotOf(table.slots, high, low), high, low]
  }
  return {
    add(text) {
      const [table, slot, high, low] = find(text)
      if (isTaken(table.slots, slot)) return false
      table.slots[slot] = high
      table.slots[slot + 1] = low
      table.used += 1
      if (table.used * 2 > table.slots.length * fullest) grow(table)
      return true
    },
    has(text) {
      const [table, slot] = find(text)
      return isTaken(table.slots, slot)
    },
  }
}

function isTaken(slots: Uint32Array, slot: number): boolean {
  return slots[slot] !== 0 || slots[slot + 1] !== 0
}

/** Where the pair stands or would stand. */
function slotOf(slots: Uint32Array, high: number, low: number): number {
  const count = slots.length / 2
  for (let index = low % count; ; index = index + 1 === count ? 0 : index + 1) {
    const slot = 2 * index
    if (!isTaken(slots, slot) || (slots[slot] === high && slots[slot + 1] === low)) return slot
  }
}

function grow(table: Table): void {
  const old = table.slots
  table.slots = new Uint32Array(2 * Math.ceil((old.length / 2) * 1.5))
  for (let slot = 0; slot < old.length; slot += 2) {
    if (!isTaken(old, slot)) continue
    const target = slotOf(table.slots, old[slot]!, old[slot + 1]!)
    table.slots[target] = old[slot]!
    table.slots[target + 1] = old[slot + 1]!
  }
}
