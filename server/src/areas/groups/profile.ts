import { badRequest, type ErrorDetail, limits } from '@parley/contract'

/** Checks what the schema of a group cannot express. @throws 400 that names each wrong field */
export function checkProfile({ icon, metadata }: { icon?: string; metadata?: Record<string, unknown> }): void {
  const details: ErrorDetail[] = []
  // Front ends load it: `javascript:` and the like must not get there.
  if (icon !== undefined && !(/^https?:\/\//i.test(icon) && URL.canParse(icon))) {
    details.push({ path: 'body/icon', message: 'must be a valid http or https URL' })
  }
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > limits.metadataBytes) {
    details.push({ path: 'body/metadata', message: `must be at most ${limits.metadataBytes} bytes of JSON` })
  }
  if (details.length === 0) return
  throw badRequest(details)
}

export function withoutRepeats(tags: readonly string[]): string[] {
  return [...new Set(tags)]
}
