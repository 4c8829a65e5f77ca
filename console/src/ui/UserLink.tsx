import type { User } from '@parley/client'
import { userAddress } from './addresses.ts'
import { PageLink } from './PageLink.tsx'

/** A user of a list, which has many of them: elements of HTML. */
export function UserLink({
  appId,
  user: { uid, name },
}: {
  readonly appId: string
  readonly user: Pick<User, 'uid' | 'name'>
}) {
  return (
    <span className="user">
      <span className="initials" aria-hidden>
        {initialsOf(name)}
      </span>
      <PageLink to={userAddress(appId, uid)}>{name}</PageLink>
    </span>
  )
}

/** The first letters of the first two words. */
function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/).slice(0, 2)
  return words.map((word) => [...word][0] ?? '').join('')
}
