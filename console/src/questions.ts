import type { Conversation, Group, Result, User } from '@parley/client'
import { admin, appClient } from './api.ts'
import type { Search } from './ui/address.ts'
import type { Question } from './ui/lists.ts'

// What pages ask for first. It is asked for as soon as a link is followed (shell/routes.tsx), and found by the page once it is drawn.

/** Rows of long lists that are asked for at once: more than a screen has, and no more, since whoever looks waits for all of them. */
const rowsAtOnce = 40

/** Apps come and go seldom. */
export const appsStaleTime = 60_000

/** What the frame around every page of an app says of it. */
export function appOf(appId: string) {
  return {
    queryKey: ['apps', 'one', appId],
    queryFn: () => admin('GET /apps/{appId}', { appId }),
    staleTime: appsStaleTime,
  }
}

export function usersIn(appId: string, { q = '', show = '', role = '' }: Search): Question<User> {
  return [
    ['users', appId, q, show, role],
    (place) =>
      appClient(appId).users.list({
        perPage: rowsAtOnce,
        withTags: true,
        ...(q !== '' && { searchKey: q }),
        ...(role !== '' && { role }),
        ...(show === 'online' && { status: ['available'] }),
        ...(show === 'deactivated' && { onlyDeactivated: true }),
        ...place,
      }),
  ]
}

export function userOf(appId: string, uid: string) {
  return { queryKey: ['user', appId, uid], queryFn: () => appClient(appId).users.get({ uid }) }
}

/** Through their eyes. */
export function groupsOf(appId: string, uid: string): Question<Group> {
  return [
    ['groups-of', appId, uid],
    (place) =>
      appClient(appId).call('GET /groups', { hasJoined: true, perPage: rowsAtOnce, ...place }, { onBehalfOf: uid }),
  ]
}

/** Through their eyes. */
export function conversationsOf(appId: string, uid: string): Question<Conversation> {
  return [
    ['conversations-of', appId, uid],
    (place) => appClient(appId).call('GET /conversations', { perPage: rowsAtOnce, ...place }, { onBehalfOf: uid }),
  ]
}

export function groupsIn(appId: string, { q = '', type = '' }: Search): Question<Group> {
  return [
    ['groups', appId, q, type],
    (place) =>
      appClient(appId).groups.list({
        perPage: rowsAtOnce,
        withTags: true,
        ...(q !== '' && { searchKey: q }),
        ...(type !== '' && { type: type as Group['type'] }),
        ...place,
      }),
  ]
}

export function groupOf(appId: string, guid: string) {
  return { queryKey: ['group', appId, guid], queryFn: () => appClient(appId).groups.get({ guid }) }
}

export type Member = Result<'GET /groups/{guid}/members'>['data'][number]

export function membersOf(appId: string, guid: string, { q = '', scope = '' }: Search): Question<Member> {
  return [
    ['members', appId, guid, q, scope],
    (place) =>
      appClient(appId).call('GET /groups/{guid}/members', {
        guid,
        perPage: rowsAtOnce,
        ...(q !== '' && { searchKey: q }),
        ...(scope !== '' && { scopes: [scope as Member['scope']] }),
        ...place,
      }),
  ]
}

/** The first part of the key of every query whose answer has texts: they are asked for again once a reading is opened. */
export const texts = 'texts'

export function conversationsIn(appId: string, { q = '', type = '' }: Search): Question<Conversation> {
  return [
    [texts, appId, 'conversations', q, type],
    (place) =>
      appClient(appId).conversations.list({
        unique: true,
        perPage: rowsAtOnce,
        ...(q !== '' && { searchKey: q }),
        ...(type !== '' && { conversationType: type as 'user' | 'group' }),
        ...place,
      }),
  ]
}

/** Messages that are asked for at once. */
export const messagesAtOnce = 50

/** The newest messages of a conversation. */
export function newestIn(appId: string, conversationId: string) {
  return {
    queryKey: [texts, appId, 'newest', conversationId],
    queryFn: async () =>
      (await appClient(appId).messages.list({ conversationId, limit: messagesAtOnce, affix: 'prepend' })).data,
  }
}

/** What a reading of the whole app is of. */
export const wholeApp = '*'

export function readingsIn(appId: string) {
  return { queryKey: ['readings', appId], queryFn: () => admin('GET /apps/{appId}/readings', { appId }) }
}

const day = 86_400
/** Days of the pictures of the overview. */
export const daysShown = 30

export function daysOf(appId: string) {
  return {
    queryKey: ['days', appId],
    queryFn: async () => {
      const at = Math.floor(Date.now() / 1000 / 60) * 60
      return (await appClient(appId).stats.daily({ fromDate: at - daysShown * day, toDate: at })).days
    },
  }
}

export function onlineIn(appId: string) {
  return {
    queryKey: ['online', appId],
    queryFn: async () =>
      (await appClient(appId).users.list({ status: ['available'], perPage: 1 })).meta.pagination.total,
  }
}

export function countOfUsers(appId: string) {
  return {
    queryKey: ['users-total', appId],
    queryFn: async () => (await appClient(appId).users.list({ perPage: 1 })).meta.pagination.total,
  }
}

export function healthOf(appId: string) {
  return { queryKey: ['app-health', appId], queryFn: () => admin('GET /apps/{appId}/health', { appId }) }
}

export const healthOfAll = { queryKey: ['health'], queryFn: () => admin('GET /health') }

export function settingsOf(appId: string) {
  return { queryKey: ['settings', appId], queryFn: () => appClient(appId).app.settings({ appId }) }
}

export function limitsOf(appId: string) {
  return { queryKey: ['limits', appId], queryFn: () => admin('GET /apps/{appId}/limits', { appId }) }
}

async function all<Row>(list: AsyncIterable<Row>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const row of list) rows.push(row)
  return rows
}

export type Role = Result<'GET /roles'>['data'][number]
export type Permission = Result<'GET /roles/{role}/permissions'>['data'][number]
export type Feature = Result<'GET /roles/{role}/restrictedfeatures'>['data'][number]

export function rolesIn(appId: string) {
  return { queryKey: ['roles', appId], queryFn: () => all(appClient(appId).roles.list({ perPage: 100 })) }
}

/** What is known of one role. */
export interface KnownRole {
  readonly role: Role
  readonly users: number | undefined
  readonly permissions: readonly Permission[]
  readonly restricted: readonly Feature[]
}

export function knownOf(appId: string, role: Role) {
  const { users, roles } = appClient(appId)
  const of = { role: role.role }
  return {
    queryKey: ['role', appId, role.role],
    queryFn: async (): Promise<KnownRole> => {
      const [found, permissions, restricted] = await Promise.all([
        users.list({ ...of, perPage: 1 }),
        all(roles.permissions.list({ ...of, perPage: 100 })),
        all(roles.restrictedFeatures.list({ ...of, perPage: 100 })),
      ])
      return { role, users: found.meta.pagination.total, permissions, restricted }
    },
  }
}

/** Every feature that can be restricted, with what it means. */
export function featuresIn(appId: string) {
  return {
    queryKey: ['features', appId],
    queryFn: async () => (await appClient(appId).roles.restrictedFeatures.known()).data,
    staleTime: Number.POSITIVE_INFINITY,
  }
}
