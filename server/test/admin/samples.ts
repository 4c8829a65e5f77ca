import { randomBytes } from 'node:crypto'
import { createOwnerLink } from '../../src/areas/operators/index.ts'
import { codeAt } from '../../src/areas/operators/totp.ts'
import { dataOf } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { createOperator, createOwner, meOf, newEmail, password, Visitor } from './operator.ts'
import { newPerson, type TestProvider } from './provider.ts'

/** A valid call of an operation of the admin API. */
export interface AdminSample {
  /** The cookie of whoever has begun what the call finishes. */
  readonly cookie?: string | undefined
  readonly params?: Record<string, string>
  readonly body?: object
}

/** What samples name: the things of one owner. */
export interface AdminIds {
  readonly provider: TestProvider
  readonly world: World
  readonly owner: Visitor
}

const created = async (answer: Promise<Parameters<typeof dataOf>[0]>): Promise<Record<string, string>> =>
  dataOf(await answer)

/** A call of each operation, which makes first what it names. */
export const adminSamples: Readonly<Record<string, (ids: AdminIds) => AdminSample | Promise<AdminSample>>> = {
  'set-up-owner': async ({ world }) => ({
    body: { token: await createOwnerLink(world.context), email: newEmail(), name: 'Olga', password },
  }),
  'accept-invitation': async ({ owner }) => {
    const { token = '' } = await created(owner.post('/invitations', { email: newEmail(), role: 'support' }))
    return { body: { token, name: 'Sam', password } }
  },
  'sign-in': async ({ owner }) => {
    const email = newEmail()
    await createOperator(owner, { role: 'support' }, email)
    return { body: { email, password } }
  },
  'finish-provider-sign-in': async ({ world, owner, provider }) => {
    const person = newPerson()
    dataOf(await owner.post('/invitations', { email: person.email, role: 'support' }))
    const visitor = new Visitor(world.url)
    const body = await provider.lead(visitor, person)
    return { body, cookie: visitor.cookie }
  },
  'begin-operator-link': () => ({ body: { password } }),
  'confirm-operator-link': async ({ owner, provider }) => ({
    body: await provider.lead(owner, newPerson(), '/link', { password }),
  }),
  'end-operator-link': async (ids) => {
    const { body } = await adminSamples['confirm-operator-link']!(ids)
    dataOf(await ids.owner.post('/link/confirm', body))
    return { body: { password } }
  },
  'end-operator-session': async ({ world, owner }) => {
    const { email } = await meOf(owner)
    const other = new Visitor(world.url)
    const { sessionId } = await created(other.post('/session', { email, password }))
    return { params: { id: String(sessionId) } }
  },
  'change-operator-password': () => ({ body: { current: password, password: `${password} of tomorrow` } }),
  'begin-totp': () => ({ body: { password } }),
  'confirm-totp': async ({ owner }) => {
    const { secret = '' } = await created(owner.post('/totp', { password }))
    return { body: { code: codeAt(secret, Math.floor(Date.now() / 30_000)) } }
  },
  'end-totp': async (ids) => {
    const { body } = await adminSamples['confirm-totp']!(ids)
    dataOf(await ids.owner.post('/totp/confirm', body))
    return { body: { password } }
  },
  'create-operator-token': () => ({ body: { name: 'nightly', rights: ['look'], days: 1 } }),
  'delete-operator-token': async ({ owner }) => {
    const { id } = await created(owner.post('/tokens', { name: 'nightly', rights: ['look'], days: 1 }))
    return { params: { id: String(id) } }
  },
  'update-operator': async ({ owner }) => {
    const { id } = await meOf(await createOperator(owner, { role: 'support' }))
    return { params: { id }, body: { role: 'moderator' } }
  },
  'delete-operator': async ({ owner }) => {
    const { id } = await meOf(await createOperator(owner, { role: 'support' }))
    return { params: { id } }
  },
  'invite-operator': () => ({ body: { email: newEmail(), role: 'moderator' } }),
  'withdraw-invitation': async ({ owner }) => {
    const { id } = await created(owner.post('/invitations', { email: newEmail(), role: 'support' }))
    return { params: { id: String(id) } }
  },
  'create-app': () => ({ body: { appId: `made-${randomBytes(8).toString('hex')}` } }),
  'get-app': ({ world }) => ({ params: { appId: world.app.name } }),
  'get-app-limits': ({ world }) => ({ params: { appId: world.app.name } }),
  'get-app-health': ({ world }) => ({ params: { appId: world.app.name } }),
  'start-doctor': async ({ owner }) => {
    dataOf(await owner.delete('/doctor'))
    return {}
  },
  'pause-app': async () => ({ params: { appId: (await createWorld()).app.name } }),
  'resume-app': async ({ owner }) => {
    const appId = (await createWorld()).app.name
    dataOf(await owner.post(`/apps/${appId}/pause`))
    return { params: { appId } }
  },
  'list-user-sessions': async ({ world }) => {
    await createUsers(world, 'ulla')
    return { params: { appId: world.app.name, uid: 'ulla' } }
  },
  'end-user-session': async ({ world, owner }) => {
    const uid = `user-${randomBytes(8).toString('hex')}`
    await createUsers(world, uid)
    dataOf(await world.post(`/users/${uid}/auth_tokens`))
    const [session] = dataOf(await owner.get(`/apps/${world.app.name}/users/${uid}/sessions`))
    return { params: { appId: world.app.name, uid, id: session.id } }
  },
  'delete-app': async () => {
    const { name } = (await createWorld()).app
    return { params: { appId: name }, body: { name } }
  },
  'undelete-app': async ({ owner }) => {
    const { name } = (await createWorld()).app
    dataOf(await owner.delete(`/apps/${name}`, { name }))
    return { params: { appId: name } }
  },
  'check-import': ({ world }) => ({
    params: { appId: world.app.name },
    body: { kind: 'users', records: [{ uid: 'ulla', name: 'Ulla' }, { uid: '!' }] },
  }),
  'await-changes': ({ world }) => ({ params: { appId: world.app.name } }),
  'list-readings': ({ world }) => ({ params: { appId: world.app.name } }),
  'open-reading': ({ world }) => ({ params: { appId: world.app.name }, body: { of: '*', reason: 'Report 17' } }),
}

/** An owner of their own, and the world they look at. */
export async function furnishAdmin(world: World, provider: TestProvider): Promise<AdminIds> {
  return { world, provider, owner: await createOwner(world) }
}
