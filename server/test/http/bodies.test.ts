import { beforeAll, expect, it } from 'vitest'
import { describeApi } from '../../src/http/reference/openapi.ts'
import { routes } from '../../src/routes.ts'
import { createWorld } from '../support/world.ts'
import { createFurnisher } from './copies.ts'
import { type Furnished, furnishInOrder } from './in-order.ts'
import { chatAreas } from './refusals.ts'
import { furnish, furnishChat, type Ids, type Sample, samples } from './samples.ts'
import { pathOf, queryOf } from './watched.ts'

const operations = routes.map((route) => route.operation).filter(({ body }) => body !== undefined)
const { paths } = describeApi(operations, 'parley') as {
  paths: Record<string, Record<string, { requestBody: { required: boolean } }>>
}

/** Whose samples say too much: these can do without a body, but not as the sample calls them. */
const others: Readonly<Record<string, (ids: Ids) => Sample>> = {
  // To join.
  'add-group-members': (ids) => ({ params: { guid: ids.team }, as: ids.carol }),
  // A member with another scope than that of new ones.
  'change-group-member-scope': (ids) => ({ params: { guid: ids.team, uid: ids.bob } }),
  // Of the login that calls.
  'notifications-push-unregister-tokens': (ids) => ({ token: ids.authToken }),
  'notifications-push-delete-token': (ids) => ({ params: { pushToken: ids.pushToken }, token: ids.authToken }),
}

/** Without a body, hardly any of them takes away what another one needs. */
const nextWorld = createFurnisher(4)
let shared: Furnished
beforeAll(async () => {
  const world = await createWorld()
  shared = { world, ids: await furnish(world) }
})

it.each(operations.map((operation) => [operation.id, operation] as const))(
  'the body of %s is required if nothing can be done without it, else not',
  async (id, operation) => {
    const required = paths[operation.path]?.[operation.method.toLowerCase()]?.requestBody.required === true
    // What is refused leaves the world as it is.
    const furnishIt = chatAreas.includes(operation.area) ? furnishChat : furnish
    const furnishNext = id in others ? furnishInOrder : nextWorld
    const { world, ids } = required ? shared : await furnishNext(furnishIt)
    if (id === 'change-group-member-scope') await world.put('/groups/team/members/bob', { scope: 'admin' })
    const sample = (others[id] ?? samples[id])?.(ids)
    const path = pathOf(operation, sample?.params) + queryOf(sample?.query)
    const { as, token } = sample ?? {}
    const { status, body } = await world.call(operation.method, path, undefined, {
      ...(as !== undefined && { as }),
      ...(token !== undefined && { token }),
    })
    const said = required ? 'its declaration' : 'its declaration, or in its member `plain` for the reference'
    expect(status !== 200, `say in ${said} which members it requires: ${JSON.stringify(body)}`).toBe(required)
  },
)
