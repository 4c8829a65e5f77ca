import {
  countOnlineMembers,
  createUser,
  deactivateUsers,
  deleteUser,
  getUser,
  listUserErasures,
  listUsers,
  reactivateUsers,
  updateUser,
} from '@parley/contract'
import { serve } from '../../call.ts'
import { systemUid } from '../../chat/apps.ts'
import { countOnlineMembers as countMembers } from '../../chat/groups/online.ts'
import { requireGoverned } from '../../chat/roles/rules.ts'
import { listing } from '../../chat/users/listed.ts'
import { requireUser } from '../../chat/users/require.ts'
import { showUser } from '../../chat/users/rows.ts'
import { showUsers } from '../../chat/users/view.ts'
import { pageMeta, readPage } from '../../paging.ts'
import { issueToken } from '../auth-tokens/index.ts'
import { checkAuthKey, comesFromBackend } from './authority.ts'
import { readErasures } from './certificate.ts'
import * as deactivation from './deactivation.ts'
import { deleteForGood } from './deletion.ts'
import { notErased, systemCannotBeDeleted } from './errors.ts'
import { isAnother, selectUsers } from './list.ts'
import { countOnline } from './online.ts'
import { changeUser, checkProfile, insertUser } from './profile.ts'
import { listLimits, requireVisibleProfile } from './role-limits.ts'

export const operations = [
  serve(createUser, async ({ app, caller, body: { withAuthToken, ...user } }, context) => {
    checkProfile(user)
    const { maxBots } = await context.settings.of(app.appId)
    const fromBackend = comesFromBackend(caller)
    const createdBy = !fromBackend && caller.kind === 'app' ? { createdBy: caller.keyOrigin } : {}
    const rules = { fromBackend, maxBots, ...createdBy }
    return context.database.transaction(async (tx) => {
      const row = await insertUser(context, tx, app.appId, user, rules)
      if (!fromBackend)
        await context.audit.record(tx, app.appId, { action: 'user_created', type: 'user', target: row.uid })
      const token = withAuthToken === true ? await issueToken(context, tx, app.appId, row.uid) : undefined
      return { data: { ...showUser(row, 'self'), ...(token && { authToken: token.authToken }) } }
    })
  }),

  serve(listUsers, async ({ app, caller, actor, policy, query }, { database }) => {
    const page = readPage(query, caller)
    const limits = [
      ...(actor === undefined ? [] : listLimits(policy, app.appId, actor.uid)),
      // Front ends show the list as it is, for somebody to write to.
      ...(caller.kind === 'user' && caller.via === 'token' ? [isAnother(caller.uid)] : []),
    ]
    const { users, total, cursor } = await selectUsers(database, app.appId, actor?.uid, query, page, limits)
    const data = await showUsers(database, app.appId, actor?.uid, users, { withTags: query.withTags === true })
    return { data, meta: pageMeta(page, total, data.length), ...(cursor && { cursor }) }
  }),

  serve(countOnlineMembers, async ({ app, actor, policy, body: { groups } }, { database }) => {
    if (groups !== undefined) {
      const counts = await countMembers(database, app.appId, actor?.uid, policy, groups)
      return { data: { groups: Object.fromEntries(counts) } }
    }
    requireGoverned(policy, listing)
    return { data: { onlineUsersCount: await countOnline(database, app.appId, actor?.uid, policy) } }
  }),

  serve(getUser, async ({ app, actor, policy, params }, { database }) => {
    const row = await requireUser(database, app.appId, params.uid)
    await requireVisibleProfile(database, app.appId, policy, actor, row)
    const [data = showUser(row)] = await showUsers(database, app.appId, actor?.uid, [row])
    return { data }
  }),

  serve(updateUser, async ({ app, caller, params, body }, context) => {
    const { database, settings, audit } = context
    await checkAuthKey(context, database, app, caller)
    checkProfile(body)
    const fromBackend = comesFromBackend(caller)
    const uid = params.uid.toLowerCase()
    const { maxBots } = await settings.of(app.appId)
    const row = await database.transaction(async (tx) => {
      const changed = await changeUser(tx, app.appId, uid, body, { fromBackend, maxBots })
      if (!fromBackend) await audit.record(tx, app.appId, { action: 'user_updated', type: 'user', target: uid })
      return changed
    })
    return { data: showUser(row, fromBackend ? 'app' : 'other') }
  }),

  serve(deactivateUsers, async ({ app, body: { uidsToDeactivate = [] } }, context) => {
    return { data: { deactivatedUids: await deactivation.deactivateUsers(context, app.appId, uidsToDeactivate) } }
  }),

  serve(reactivateUsers, async ({ app, body: { uidsToActivate = [] } }, context) => {
    return { data: await deactivation.reactivateUsers(context, app.appId, uidsToActivate) }
  }),

  serve(deleteUser, async ({ app, params, body }, context) => {
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    if (uid === systemUid) throw systemCannotBeDeleted(uid)
    await deactivation.deactivateUsers(context, app.appId, [uid])
    if (body.permanent === true) await deleteForGood(context, app, uid)
    return { data: { success: true, message: `The user ${uid} was deleted.` } }
  }),

  serve(listUserErasures, async ({ app, params }, { database, secrets }) => {
    const uid = params.uid.toLowerCase()
    const data = await readErasures(database, secrets, app.appId, uid)
    if (data.length === 0) throw notErased(uid)
    return { data }
  }),
]
