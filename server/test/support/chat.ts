import type { Answer, World } from './world.ts'

/** Sends a text one-to-one and gives the message as answered. Fails the test when it is refused. */
export async function say(world: World, from: string, to: string, text: string, extra: object = {}) {
  return dataOf(
    await world.post('/messages', { receiver: to, receiverType: 'user', data: { text }, ...extra }, { as: from }),
  )
}

/** Sends a text into a group and gives the message as answered. */
export async function sayInGroup(world: World, from: string, guid: string, text: string, extra: object = {}) {
  return dataOf(
    await world.post('/messages', { receiver: guid, receiverType: 'group', data: { text }, ...extra }, { as: from }),
  )
}

/** Makes a public group; the owner is an admin member, the others join by their scope. */
export async function createGroup(
  world: World,
  guid: string,
  owner: string,
  members: { admins?: string[]; moderators?: string[]; participants?: string[] } = {},
  extra: object = {},
) {
  return dataOf(await world.post('/groups', { guid, name: guid, type: 'public', owner, members, ...extra }))
}

/** `data` of an answer that must be a success. */
export function dataOf(answer: Answer) {
  if (answer.status !== 200) throw new Error(`status ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

/** `error.code` of an answer, with its status: `404 ERR_UID_NOT_FOUND`. */
export function refusal(answer: Answer): string {
  return `${answer.status} ${answer.body?.error?.code}`
}

/** The texts of a message list, in the order answered. */
export function texts(answer: Answer): string[] {
  return dataOf(answer).map(
    (message: { data: { text?: string; action?: string } }) => message.data.text ?? message.data.action,
  )
}
