import {
  addGroupMembers,
  badRequest,
  changeGroupMemberScope,
  kickGroupMember,
  leaveGroup,
  listGroupMembers,
  putGroupMembers,
} from '@parley/contract'
import { serve } from '../../call.ts'
import { actingDevice } from '../../chat/identity.ts'
import { requireFeature, requireRolePermission } from '../../chat/roles/rules.ts'
import type { Context } from '../../context.ts'
import { readPage } from '../../paging.ts'
import { addMembers } from './add.ts'
import { type Addition, listScopes, type MemberLists, readAdditions } from './additions.ts'
import { kickMember, leave } from './depart.ts'
import { requireListFeatures } from './features.ts'
import { joinGroup } from './join.ts'
import { listMembers } from './list.ts'
import { changeScope } from './scope.ts'

export const operations = [
  serve(addGroupMembers, async ({ app, actor, policy, params, body }, context) => {
    const named = listScopes.map(([list]) => list).filter((list) => body[list] !== undefined)
    if (named.length > 0) {
      requireFeature(policy, 'massMemberOperate')
      requireListFeatures(policy, body)
      const outcomes = await addMembers(
        context,
        app.appId,
        params.guid,
        actor,
        await readLists(context, app.appId, body),
      )
      return { data: Object.fromEntries(named.map((list) => [list, outcomes[list]])) }
    }
    // Front ends join by this path; the app cannot, it has no membership.
    if (actor === undefined) {
      throw badRequest([
        { path: 'body', message: 'must have at least one of admins, moderators, participants and usersToBan' },
      ])
    }
    requireFeature(policy, 'joinGroup')
    requireRolePermission(policy, 'joinGroup')
    return { data: await joinGroup(context, app.appId, params.guid, actor, policy, body.password ?? '') }
  }),

  serve(putGroupMembers, async ({ app, actor, policy, params, body }, context) => {
    requireListFeatures(policy, body)
    return { data: await addMembers(context, app.appId, params.guid, actor, await readLists(context, app.appId, body)) }
  }),

  serve(leaveGroup, async ({ app, actor, caller, params }, context) => {
    await leave(context, app.appId, params.guid, actor.uid, actingDevice(caller))
    return { data: { success: true, message: `${actor.uid} left ${params.guid.toLowerCase()}` } }
  }),

  serve(listGroupMembers, async ({ app, caller, actor, params, query }, context) => {
    return listMembers(context.database, app.appId, params.guid, actor?.uid, query, readPage(query, caller))
  }),

  serve(changeGroupMemberScope, async ({ app, actor, params, body }, context) => {
    const uid = params.uid.toLowerCase()
    const scope = body.scope ?? 'participant'
    return { data: await changeScope(context, app.appId, params.guid, actor, uid, scope) }
  }),

  serve(kickGroupMember, async ({ app, actor, params }, context) => {
    const uid = params.uid.toLowerCase()
    await kickMember(context, app.appId, params.guid, actor, uid)
    return { data: { success: true, message: `${uid} was kicked from ${params.guid.toLowerCase()}` } }
  }),
]

/** The users whom a request adds or bans. @throws 400 for more than the app allows in one request */
async function readLists(
  { settings }: Pick<Context, 'settings'>,
  appId: number,
  body: MemberLists,
): Promise<Addition[]> {
  const { maxMembersPerRequest } = await settings.of(appId)
  return readAdditions(body, 'body', maxMembersPerRequest)
}
