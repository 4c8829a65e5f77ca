import { limits } from './limits.ts'

/**
 * Whether something is an absolute http or https URL that is not too long. Front ends put these into links and images: `javascript:`
 * and its like must not get there.
 */
export function isWebAddress(value: unknown): value is string {
  return (
    typeof value === 'string' && /^https?:\/\//i.test(value) && value.length <= limits.urlLength && URL.canParse(value)
  )
}
