import { limits } from '@parley/contract'

/** What is counted: the figures of the contract, and three of this service. */
export type RateLimitName = keyof typeof limits.requestsPerMinute | 'address' | 'user' | 'operator'

export interface RateLimit {
  readonly perMinute: number
  /** So many at once after a while without any; from then on they are let through evenly. */
  readonly burst: number
  /** Set by the operator, and not a default: then it also counts what is done with a fullAccess key. */
  readonly isSet: boolean
}

/** What is missing is not limited. */
export type RateLimits = Readonly<Partial<Record<RateLimitName, RateLimit>>>

/** So high that the busiest minute of a front end stays below a tenth. Imports need a fullAccess key, so they have none. */
const defaults = {
  address: 60_000,
  user: 3_000,
  operator: 1_200,
  core: 600_000,
  standard: 1_200_000,
  sendPerUser: 600,
  markUnreadPerUser: 120,
}

/** A front end asks for dozens of things at once when it starts, and for less than this in its busiest minute. */
const leastBurst = 100
const burstSeconds = 10

/**
 * What one client may do is let through evenly, so that nobody waits at the beginning of each minute while they do all of it. What
 * is the app's may come at once: all its front ends do, when a service has been away.
 */
function limitOf(name: RateLimitName, perMinute: number, isSet: boolean): RateLimit {
  const isOfApp = name === 'core' || name === 'standard' || name === 'import'
  const burst = Math.max(leastBurst, Math.floor((perMinute * burstSeconds) / 60))
  return { perMinute, burst: isOfApp ? perMinute : Math.min(perMinute, burst), isSet }
}

const names: readonly RateLimitName[] = [
  'address',
  'user',
  'operator',
  ...(Object.keys(limits.requestsPerMinute) as (keyof typeof limits.requestsPerMinute)[]),
]

/** `default`, `off`, `hosted` for the documented figures, or figures of one's own: `core=600,user=0`. */
export function readRateLimits(text: string | undefined, problems: string[]): RateLimits {
  switch (text?.toLowerCase()) {
    case 'off':
      return {}
    case undefined:
    case 'default':
      return entries(defaults, false)
    case 'hosted':
      return { ...entries(defaults, false), ...entries(limits.requestsPerMinute, true) }
    default:
      return readFigures(text as string, problems)
  }
}

function readFigures(text: string, problems: string[]): RateLimits {
  const rateLimits: Partial<Record<RateLimitName, RateLimit>> = { ...entries(defaults, false) }
  for (const part of text.split(',')) {
    const [name = '', figure = ''] = part.split('=').map((piece) => piece.trim())
    const known = names.find((candidate) => candidate.toLowerCase() === name.toLowerCase())
    if (known === undefined || !/^\d{1,9}$/.test(figure)) {
      problems.push(
        `RATE_LIMITS must be default, off, hosted, or figures such as user=600,standard=0 (of ${names.join(', ')}); not "${part}"`,
      )
    } else if (Number(figure) === 0) delete rateLimits[known]
    else rateLimits[known] = limitOf(known, Number(figure), true)
  }
  return rateLimits
}

function entries(figures: Readonly<Partial<Record<RateLimitName, number>>>, isSet: boolean): RateLimits {
  return Object.fromEntries(
    Object.entries(figures).map(([name, perMinute]) => [name, limitOf(name as RateLimitName, perMinute, isSet)]),
  )
}
