import { badRequest, limits } from '@parley/contract'

const mention = /<@uid:([A-Za-z0-9_-]{1,100})>/g

/**
 * The uids that the text of a message (or the caption of its files) mentions as `<@uid:alice>`: in lower case, each once,
 * in the order of the text. Whether there is such a user shows when the message is read. `<@all:...>`, which is for
 * everybody in a group, mentions no user and is text like any other.
 */
export function mentionedIn(data: Readonly<Record<string, unknown>>): string[] {
  if (typeof data.text !== 'string' || !data.text.includes('<@uid:')) return []
  return [...new Set(Array.from(data.text.matchAll(mention), ([, uid = '']) => uid.toLowerCase()))]
}

/**
 * The uids that a message which is sent or edited mentions.
 * @throws 400 when there are more than `limits.mentionsPerMessage`
 */
export function checkMentions(data: Readonly<Record<string, unknown>>): string[] {
  const uids = mentionedIn(data)
  if (uids.length > limits.mentionsPerMessage) {
    const message = `must not mention more than ${limits.mentionsPerMessage} users; it mentions ${uids.length}`
    throw badRequest([{ path: 'body/data/text', message }])
  }
  return uids
}
