/** The anchors of a document, as pages that show Markdown make them of its headings. */
export function anchorsOf(markdown: string): Set<string> {
  const text = markdown.replaceAll(/^```.*?^```/gms, '')
  return new Set([...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, title = '']) => anchorOf(title)))
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}
