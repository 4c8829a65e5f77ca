const pairs = '0o 1i 3e 4a 5s 7t 8b 9g @a $s !i |i'.split(' ')
const letters = new Uint16Array(128)
for (const [sign, letter] of pairs) letters[sign!.charCodeAt(0)] = letter!.charCodeAt(0)

/** The letter that a digit or sign is written for; 0 where there is none. `1`, `!` and `|` may stand for `l`, too. */
export function leetLetter(code: number): number {
  return code < 128 ? letters[code]! : 0
}

/** What is put in the place of a vowel: `f*ck`. */
export function isBlot(code: number): boolean {
  return code === 0x2a || code === 0x23
}
