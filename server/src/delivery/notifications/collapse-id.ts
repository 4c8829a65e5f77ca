const mostBytes = 64

/**
 * By which a device of Apple knows what to replace, as far as Apple takes it: guids may be longer than that. Tags are ids, of
 * which each character is a byte.
 */
export function collapseIdOf(tag: string): string {
  return tag.slice(0, mostBytes)
}
