import {
  ApiError,
  type BodyOf,
  badRequest,
  checkImportMember,
  checkImportUser,
  type ErrorDetail,
  type ImportFlaw,
  type ImportUser,
  type sendModeratedMessage,
} from '@parley/contract'
import { readGroup } from '../../../chat/groups/rows.ts'
import type { App } from '../../../chat/identity.ts'
import type { Context } from '../../../context.ts'
import { storeMembers, storeUsers } from '../../data-import/index.ts'

type Body = BodyOf<typeof sendModeratedMessage>

/**
 * Makes the users and the group of a message that are not there yet, from the details that came with it. Who is there stays as
 * they are. The sender becomes a member of a group that is made.
 * @throws 400 naming what is wrong with the details, 404 `ERR_ROLE_NOT_FOUND`, `ERR_UID_NOT_FOUND`
 */
export async function makeMissing(context: Context, app: App, body: Body): Promise<void> {
  const { sender, receiver, receiverType, senderUserDetails, receiverUserDetails, receiverGroupDetails } = body
  const now = Math.floor(Date.now() / 1000)
  const users: ImportUser[] = []
  if (senderUserDetails !== undefined) {
    requireSame('senderUserDetails/uid', senderUserDetails.uid, 'sender', sender)
    refuseFlaws('senderUserDetails', checkImportUser(senderUserDetails, { now }))
    users.push({ ...senderUserDetails, recreate: false })
  }
  if (receiverUserDetails !== undefined && receiverType === 'user') {
    requireSame('receiverUserDetails/uid', receiverUserDetails.uid, 'receiver', receiver)
    refuseFlaws('receiverUserDetails', checkImportUser(receiverUserDetails, { now }))
    if (sender.toLowerCase() !== receiver.toLowerCase()) users.push({ ...receiverUserDetails, recreate: false })
  }
  const groupDetails = receiverType === 'group' ? receiverGroupDetails : undefined
  const member = groupDetails && {
    memberId: `${groupDetails.guid}_member_${sender}`,
    ...{ guid: groupDetails.guid, uid: sender, groupDetails },
  }
  if (groupDetails !== undefined) {
    requireSame('receiverGroupDetails/guid', groupDetails.guid, 'receiver', receiver)
    refuseFlaws('receiverGroupDetails', checkImportMember(member, { now }))
  }
  const made = users.length === 0 ? [] : await storeUsers(context, app.appId, users, now)
  for (const outcome of made) if (!outcome.success) refuse(outcome.error, 'ERR_UID_ALREADY_EXISTS')

  if (member === undefined) return
  if ((await readGroup(context.database, app.appId, member.guid.toLowerCase())) !== undefined) return
  const [joined] = await storeMembers(context, app.appId, [member], now)
  if (joined !== undefined && !joined.success) refuse(joined.error, 'ERR_ALREADY_JOINED')
}

function requireSame(path: string, id: string, field: string, other: string): void {
  if (id.toLowerCase() === other.toLowerCase()) return
  throw badRequest([{ path: `body/${path}`, message: `must be the same as ${field}` }])
}

function refuseFlaws(path: string, flaws: readonly ImportFlaw[]): void {
  const inside = (flaw: ImportFlaw) => flaw.path.replace(/^groupDetails\/?/, '')
  const details: ErrorDetail[] = flaws.map((flaw) => ({ path: `body/${path}/${inside(flaw)}`, message: flaw.message }))
  if (details.length > 0) throw badRequest(details)
}

/** @param but what says that they are there already */
function refuse({ code, devMessage }: { code: string; devMessage: string }, but: string): void {
  if (code !== but) throw new ApiError(code as ApiError['code'], devMessage)
}
