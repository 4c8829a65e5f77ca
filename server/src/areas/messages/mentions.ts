import { limits } from '@parley/contract'

const mention = /<@uid:([A-Za-z0-9_-]{1,100})>/g

/** The uids that the text of a message mentions (`<@uid:alice>`), in lower case, each once, in the order of the text. */
export function mentionedIn(data: Readonly<Record<string, unknown>>): string[] {
  if (typeof data.text !== 'string' || !data.text.includes('<@uid:')) return []
  const uids = new Set(Array.from(data.text.matchAll(mention), ([, uid = '']) => uid.toLowerCase()))
  return [...uids].slice(0, limits.mentionsPerMessage)
}
