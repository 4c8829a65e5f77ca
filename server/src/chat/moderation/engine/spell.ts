import { Kind, pageOf } from './characters.ts'

/** The characters of a text one by one, each as it is folded by itself, with its place in the original. */
export interface Spelled {
  codes: Uint16Array
  kinds: Uint8Array
  starts: Int32Array
  ends: Int32Array
  length: number
}

const scratch: Spelled = {
  codes: new Uint16Array(0),
  kinds: new Uint8Array(0),
  starts: new Int32Array(0),
  ends: new Int32Array(0),
  length: 0,
}

/** What nothing is left of is left out. @returns the same object for each text */
export function spellText(text: string): Spelled {
  const spelled = scratch
  makeRoom(spelled, 2 * text.length + 64)
  const { units, kinds } = pageOf(0)
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    const unit = code < 0x100 ? units[code]! : 0
    if (unit === 0) at += spellOther(spelled, text, at)
    else {
      // Nearly all: nothing on the first page joins what stands before.
      const next = spelled.length
      spelled.codes[next] = unit
      spelled.kinds[next] = kinds[code]!
      spelled.starts[next] = at
      spelled.ends[next] = at + 1
      spelled.length = next + 1
      at += 1
    }
  }
  return spelled
}

/** Any character at all. @returns its UTF-16 units */
function spellOther(spelled: Spelled, text: string, at: number): number {
  const code = text.codePointAt(at)!
  const width = code > 0xffff ? 2 : 1
  const page = pageOf(code)
  const place = code & 0xff
  const unit = page.units[place]!
  if (unit !== 0) put(spelled, unit, page.kinds[place]!, at, at + width)
  else {
    const spelling = page.spellings.get(place)
    if (spelling !== undefined) {
      makeMoreRoom(spelled, spelling.length + text.length - at)
      putAll(spelled, spelling, page.kinds[place]!, at, at + width)
    } else if (spelled.length > 0) spelled.ends[spelled.length - 1] = at + width
  }
  return width
}

function put(spelled: Spelled, unit: number, kind: number, start: number, end: number): void {
  const last = spelled.length - 1
  if (kind === Kind.joining) {
    const whole = last < 0 ? '' : String.fromCharCode(spelled.codes[last]!, unit).normalize('NFC')
    if (whole.length === 1) {
      spelled.codes[last] = whole.charCodeAt(0)
      spelled.ends[last] = end
      return
    }
  }
  spelled.codes[last + 1] = unit
  spelled.kinds[last + 1] = kind === Kind.joining ? Kind.alone : kind
  spelled.starts[last + 1] = start
  spelled.ends[last + 1] = end
  spelled.length += 1
}

/** A character that becomes several, up to 18: one sign is a whole sentence in Arabic. */
function putAll(spelled: Spelled, spelling: string, kind: number, start: number, end: number): void {
  for (let index = 0; index < spelling.length; index += 1) {
    const unit = spelling.charCodeAt(index)
    put(spelled, unit, unit === 0x20 ? Kind.separator : kind, start, end)
  }
}

function makeRoom(spelled: Spelled, size: number): void {
  spelled.length = 0
  if (spelled.codes.length >= size) return
  const room = Math.max(1024, size)
  spelled.codes = new Uint16Array(room)
  spelled.kinds = new Uint8Array(room)
  spelled.starts = new Int32Array(room)
  spelled.ends = new Int32Array(room)
}

/** For a long spelling and the rest of the text: nothing else looks whether there is room. */
function makeMoreRoom(spelled: Spelled, units: number): void {
  while (spelled.length + units > spelled.codes.length) grow(spelled)
}

function grow(spelled: Spelled): void {
  const { codes, kinds, starts, ends, length } = spelled
  makeRoom(spelled, 2 * codes.length)
  spelled.codes.set(codes)
  spelled.kinds.set(kinds)
  spelled.starts.set(starts)
  spelled.ends.set(ends)
  spelled.length = length
}
