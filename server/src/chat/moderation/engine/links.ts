/** Addresses of pages, with or without `https://`. No repetition in it is unbounded or stands in another. */
const link =
  /\b(?:https?:\/\/|www\.)[^\s<>"']{2,2000}|\b[a-z0-9-]{1,63}\.(?:com|net|org|info|biz|xyz|ru|cn|de|uk|top|shop|site|online|link|io|me|ly)\b/giu

/** How many links a text has. */
export function countLinks(text: string): number {
  return text.match(link)?.length ?? 0
}
