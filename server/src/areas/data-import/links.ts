import type { ImportGroup, ImportKind, ImportMember, ImportMessage, ImportUser } from '@parley/contract'

type JsonRecord = Readonly<Record<string, unknown>>

/** What a record counts on being there. */
export interface Reference {
  readonly collection: 'users' | 'groups' | 'roles'
  /** In lower case, as ids are compared. */
  readonly id: string
  /** Where the record names it. */
  readonly path: string
}

/** What a record that passed its check brings along and what it counts on. */
export interface Links {
  /** Users and groups that the record makes where they are missing, itself included. */
  readonly made: readonly Pick<Reference, 'collection' | 'id'>[]
  readonly needed: readonly Reference[]
}

/** Not a user that anybody imports: the app itself. */
const systemUser = 'app_system'

/** The links of a record that passed the check of its kind. */
export function linksOf(kind: ImportKind, record: JsonRecord): Links {
  const made: Pick<Reference, 'collection' | 'id'>[] = []
  const needed: Reference[] = []
  const make = (collection: 'users' | 'groups', id: string) => made.push({ collection, id: id.toLowerCase() })
  const need = (collection: Reference['collection'], id: string | undefined, path: string) => {
    if (id === undefined || (collection === 'users' && id === systemUser)) return
    if (collection === 'roles' && id.toLowerCase() === 'default') return
    needed.push({ collection, id: id.toLowerCase(), path })
  }
  const makeUser = (user: ImportUser | undefined, path: string) => {
    if (user === undefined) return
    make('users', user.uid)
    need('roles', user.role, join(path, 'role'))
  }
  const makeGroup = (group: Pick<ImportGroup, 'guid' | 'owner'> | undefined, path: string) => {
    if (group === undefined) return
    make('groups', group.guid)
    need('users', group.owner, join(path, 'owner'))
  }

  if (kind === 'users') makeUser(record as ImportUser, '')
  if (kind === 'groups') {
    const group = record as ImportGroup
    makeUser(group.groupOwnerDetails, 'groupOwnerDetails')
    makeGroup(group, '')
  }
  if (kind === 'members') {
    const member = record as ImportMember
    makeUser(member.userDetails, 'userDetails')
    makeGroup(member.groupDetails, 'groupDetails')
    need('groups', member.guid, 'guid')
    need('users', member.uid, 'uid')
  }
  if (kind === 'messages') {
    const message = record as ImportMessage
    makeUser(message.senderUserDetails, 'senderUserDetails')
    for (const [uid, user] of Object.entries(message.mentionedUserDetails ?? {})) {
      makeUser(user, `mentionedUserDetails/${uid}`)
    }
    need('users', message.sender, 'sender')
    if (message.receiverType === 'user') {
      makeUser(message.receiverUserDetails, 'receiverUserDetails')
      need('users', message.receiver, 'receiver')
    } else {
      makeUser(message.receiverGroupOwnerDetails, 'receiverGroupOwnerDetails')
      makeGroup(message.receiverGroupDetails, 'receiverGroupDetails')
      need('groups', message.receiver, 'receiver')
    }
    for (const [reaction, given] of Object.entries(message.reactions ?? {})) {
      for (const entry of given) need('users', typeof entry === 'string' ? entry : entry.uid, `reactions/${reaction}`)
    }
    for (const uid of Object.keys(message.savedBy ?? {})) need('users', uid, 'savedBy')
  }
  return { made, needed }
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`
}
