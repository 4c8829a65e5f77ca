/** Which message of the target is which of the source. */
export interface IdMap {
  readonly size: number
  /** The id in the target of a message of the source. */
  to(source: string): string | undefined
  /** The id in the source of a message of the target. */
  from(target: string): string | undefined
  add(source: string, target: string): void
}

/** Remembers about 12 bytes of each message that kept its id, and 45 of each that did not: ids are numbers. */
export function createIdMap(): IdMap {
  const kept = createNumbers(1)
  const [forward, backward] = [createNumbers(2), createNumbers(2)]
  /** Ids that are no numbers, which no service is known to give. */
  const [others, othersBack] = [new Map<string, string>(), new Map<string, string>()]
  const find = (id: string, table: Numbers, strange: ReadonlyMap<string, string>): string | undefined => {
    const number = numberOf(id)
    if (number === undefined) return strange.get(id)
    const found = table.get(number) ?? kept.get(number)
    return found === undefined ? strange.get(id) : String(found)
  }
  return {
    get size() {
      return kept.size + forward.size + others.size
    },
    to: (id) => find(id, forward, others),
    from: (id) => find(id, backward, othersBack),
    add(source, target) {
      const [one, other] = [numberOf(source), numberOf(target)]
      if (one === undefined || other === undefined) {
        others.set(source, target)
        othersBack.set(target, source)
      } else if (one === other) kept.set(one, one)
      else {
        forward.set(one, other)
        backward.set(other, one)
      }
    },
  }
}

function numberOf(id: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(id)) return undefined
  const number = Number(id)
  return Number.isSafeInteger(number) ? number : undefined
}

interface Numbers {
  readonly size: number
  get(key: number): number | undefined
  set(key: number, value: number): void
}

const tableCount = 64
const fullest = 0.85

/** A map of positive integers. `width` 1 keeps the keys alone, which are then their own values. */
function createNumbers(width: 1 | 2): Numbers {
  const tables = Array.from({ length: tableCount }, () => ({ slots: new Float64Array(width * 16), used: 0 }))
  let size = 0
  const slotOf = (slots: Float64Array, key: number): number => {
    const count = slots.length / width
    for (let index = spread(key) % count; ; index = index + 1 === count ? 0 : index + 1) {
      const found = slots[index * width]
      if (found === 0 || found === key) return index * width
    }
  }
  return {
    get size() {
      return size
    },
    get(key) {
      const { slots } = tables[key % tableCount]!
      const slot = slotOf(slots, key)
      return slots[slot] === key ? slots[slot + width - 1] : undefined
    },
    set(key, value) {
      const table = tables[key % tableCount]!
      const slot = slotOf(table.slots, key)
      if (table.slots[slot] === 0) {
        size += 1
        table.used += 1
      }
      table.slots[slot] = key
      if (width === 2) table.slots[slot + 1] = value
      if (table.used * width <= table.slots.length * fullest) return
      const old = table.slots
      table.slots = new Float64Array(width * Math.ceil((old.length / width) * 1.5))
      for (let at = 0; at < old.length; at += width) {
        if (old[at] === 0) continue
        const place = slotOf(table.slots, old[at]!)
        table.slots.set(old.subarray(at, at + width), place)
      }
    },
  }
}

function spread(key: number): number {
  let bits = (key ^ Math.imul(Math.floor(key / 2 ** 32), 0x9e3779b1)) >>> 6
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 13)) >>> 0
}
