import type { Audit } from '../../chat/audit/audit.ts'
import type { Database } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { emailOf } from './accounts.ts'
import { createLink, type LinkKind, setupGrants, setupSeconds } from './links.ts'
import { createPasswords } from './passwords.ts'
import { countLocked, createAccount } from './sign-in.ts'

interface Store {
  readonly database: Database
  readonly secrets: Secrets
  readonly audit: Audit
}

/** The first owner, as the environment names them. */
export interface FirstOwner {
  readonly email: string
  readonly password: string
}

/**
 * Sees to it that somebody can become the first owner.
 * @param owner is made, where there is no operator yet
 * @returns `token`: of a one-time address, where nobody was named; `isIgnored`: somebody was named, but there are operators
 */
export async function offerSetup(
  store: Store,
  owner: FirstOwner | undefined,
): Promise<{ token?: string; isIgnored?: boolean }> {
  const password = owner && (await createPasswords().hash(owner.password))
  return store.database.transaction(async (tx) => {
    if ((await countLocked(tx)) > 0) return { isIgnored: owner !== undefined }
    if (owner !== undefined && password !== undefined) {
      await createAccount(store, tx, { ...setupGrants, email: emailOf(owner.email), name: owner.email, password })
      return {}
    }
    return { token: (await createSetupLink(store, tx, 'setup')).token }
  })
}

/** A one-time address for an owner, at any time: for whoever has the machine. @returns its token */
export async function createOwnerLink(store: Store): Promise<string> {
  return (await createSetupLink(store, store.database, 'owner')).token
}

function createSetupLink(store: Store, on: Parameters<typeof createLink>[1], kind: LinkKind) {
  return createLink(store, on, { ...setupGrants, kind, email: null, invitedBy: null, seconds: setupSeconds })
}
