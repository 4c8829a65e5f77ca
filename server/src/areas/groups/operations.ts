import {
  badRequest,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  transferOwnership,
  updateGroup,
} from '@parley/contract'
import { serve } from '../../call.ts'
import { readViewer, requireGroup } from '../../chat/groups/access.ts'
import { countOnlineMembers } from '../../chat/groups/online.ts'
import { showGroup } from '../../chat/groups/rows.ts'
import { requireListed, roleList } from '../../chat/roles/rules.ts'
import { readPage } from '../../paging.ts'
import { makeGroup } from './create.ts'
import { removeGroup } from './delete.ts'
import { listPage } from './list.ts'
import { transferGroup } from './owner.ts'
import { changeGroup } from './update.ts'

export const operations = [
  serve(createGroup, async ({ app, actor, policy, body }, context) => {
    return { data: await makeGroup(context, app.appId, actor, body, policy) }
  }),

  serve(listGroups, async ({ app, caller, actor, policy, query }, context) => {
    if (query.hasJoined === true && actor === undefined) {
      throw badRequest([{ path: 'headers/onBehalfOf', message: 'is required with hasJoined' }])
    }
    const visibleTypes = roleList(policy, 'listGroups.allowedGroupTypes')
    return listPage(context.database, app.appId, actor?.uid, query, readPage(query, caller), visibleTypes)
  }),

  serve(getGroup, async ({ app, actor, policy, params }, { database }) => {
    const group = await requireGroup(database, app.appId, params.guid)
    const viewer = actor && (await readViewer(database, app.appId, group, actor.uid))
    requireListed(policy, 'getGroupDetails.allowedGroupTypes', group.type)
    const counts = await countOnlineMembers(database, app.appId, actor?.uid, policy, [group.guid])
    const onlineMembersCount = counts.get(group.guid)
    return { data: { ...showGroup(group, viewer), ...(onlineMembersCount !== undefined && { onlineMembersCount }) } }
  }),

  serve(updateGroup, async ({ app, actor, policy, params, body }, context) => {
    const changed = await changeGroup(context, app.appId, params.guid, actor, body, policy)
    return { data: showGroup(changed.group, changed.actor.kind === 'member' ? changed.actor.membership : undefined) }
  }),

  serve(deleteGroup, async ({ app, actor, params }, context) => {
    await removeGroup(context, app.appId, params.guid, actor)
    return { data: { success: true, message: `group ${params.guid.toLowerCase()} was deleted` } }
  }),

  serve(transferOwnership, async ({ app, actor, params, body }, context) => {
    const passed = await transferGroup(context, app.appId, params.guid, actor, body.owner.toLowerCase())
    return { data: showGroup(passed.group, passed.actor.kind === 'member' ? passed.actor.membership : undefined) }
  }),
]
