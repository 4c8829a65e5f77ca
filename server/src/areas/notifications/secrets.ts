import type { ProviderRow } from '../../chat/notifications/providers.ts'
import type { Secrets } from '../../store/secrets.ts'

/** A secret as answers show it: enough to recognise it by. */
export function shorten(secret: string): string {
  return secret === '' ? '' : secret.length < 12 ? '********' : `********${secret.slice(-4)}`
}

/** What is sent for a secret: a new one, or the present one as it was answered, which then stays. */
export function secretOf(sent: string | undefined, present: string): string {
  return sent === undefined || (present !== '' && sent === shorten(present)) ? present : sent
}

/** What a provider keeps sealed. */
export function secretsOf<Kept>(secrets: Pick<Secrets, 'unseal'>, { sealed }: Pick<ProviderRow, 'sealed'>): Kept {
  return JSON.parse(secrets.unseal(sealed)) as Kept
}

/** What was sent. */
export function given<Members extends object>(members: Members): Partial<Members> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Members>
}
