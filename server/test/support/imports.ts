import { expect } from 'vitest'
import type { World } from './world.ts'

export type Kind = 'users' | 'groups' | 'members' | 'messages'

/** Imports records and gives the outcome of each by its key. Fails the test when the request as a whole is refused. */
export async function importAll(world: World, kind: Kind, records: object) {
  const answer = await world.post(`/data_import/${kind}`, { [kind]: records })
  expect(answer.body.error).toBeUndefined()
  expect(answer.status).toBe(200)
  return answer.body.data
}

/** Imports records that must all be stored, and gives what is answered for each by its key. */
export async function importWell(world: World, kind: Kind, records: object) {
  const outcomes = await importAll(world, kind, records)
  expect(codes(outcomes)).toEqual(Object.fromEntries(Object.keys(outcomes).map((key) => [key, 'stored'])))
  return Object.fromEntries(
    Object.entries(outcomes).map(([key, outcome]) => [key, (outcome as { data: unknown }).data]),
    // biome-ignore lint/suspicious/noExplicitAny: tests look at answers as a client would, without types
  ) as Record<string, any>
}

/** The error code of each outcome, `stored` where there is none. */
export function codes(outcomes: Record<string, { success: boolean; error?: { code: string } }>) {
  return Object.fromEntries(
    Object.entries(outcomes).map(([key, { success, error }]) => [key, success ? 'stored' : error?.code]),
  )
}

/** Records of users `alice`, `bob`, ... with capitalised names. */
export function usersNamed(...uids: string[]) {
  return uids.map((uid) => ({ uid, name: uid.charAt(0).toUpperCase() + uid.slice(1), createdAt: 1_600_000_000 }))
}

/** A text from one user to another; `extra` adds and replaces members. */
export function text(muid: string, sender: string, receiver: string, sentAt: number, extra: object = {}) {
  return { muid, sender, receiver, receiverType: 'user', data: { text: muid }, sentAt, ...extra }
}

/** A text into a group. */
export function groupText(muid: string, sender: string, guid: string, sentAt: number, extra: object = {}) {
  return text(muid, sender, guid, sentAt, { receiverType: 'group', ...extra })
}

/** The muids of a list of messages, in its order. */
export function muids(messages: ReadonlyArray<{ muid?: string }>) {
  return messages.map(({ muid }) => muid)
}
