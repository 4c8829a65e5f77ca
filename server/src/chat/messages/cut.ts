const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Cuts between characters as people see them. @param length of the result at most, its `…` included */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  let end = 0
  for (const { index, segment } of graphemes.segment(text)) {
    if (index + segment.length > length - 1) break
    end = index + segment.length
  }
  return `${text.slice(0, end)}…`
}
