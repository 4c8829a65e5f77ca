import { withEmoji } from './emoji.ts'

const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' }

/**
 * The text of a Slack message as people read it: mentions as `<@uid:...>`, links as addresses, emoji as characters.
 * @param uidOf the uid of a user id
 */
export function slackText(text: string, uidOf: (user: string, name?: string) => string): string {
  // What is in angle brackets is markup: brackets that somebody typed are entities.
  const parts = text.split(/<([^<>]*)>/)
  return parts.map((part, index) => (index % 2 === 0 ? withEmoji(typed(part)) : markup(part, uidOf))).join('')
}

/** The web addresses that a Slack message names, each in the one way that browsers write it. */
export function linksIn(text: string): ReadonlySet<string> {
  const targets = [...text.matchAll(/<([^<>|]*)[^<>]*>/g)].map(([, target = '']) => typed(target))
  return new Set(targets.filter((target) => URL.canParse(target)).map(hrefOf))
}

/** One address may be written with and without a slash at its end. */
export function hrefOf(address: string): string {
  return new URL(address).href
}

function typed(text: string): string {
  return text.replace(/&(?:lt|gt|amp);/g, (entity) => entities[entity] ?? entity)
}

function markup(inner: string, uidOf: (user: string, name?: string) => string): string {
  const bar = inner.indexOf('|')
  const target = bar === -1 ? inner : inner.slice(0, bar)
  const label = bar === -1 ? '' : typed(inner.slice(bar + 1))
  if (target.startsWith('@')) return `<@uid:${uidOf(target.slice(1), label || undefined)}>`
  if (target.startsWith('#')) return `#${label || target.slice(1)}`
  if (target.startsWith('!subteam^')) return label || '@group'
  if (target.startsWith('!')) return label || `@${target.slice(1).split('^')[0]}`
  const address = typed(target.replace(/^mailto:/, ''))
  return label === '' || label === address ? address : `${label} (${address})`
}
