import type { ApiError, ImportMessage, Message } from '@parley/contract'
import { type GroupRow, readGroups } from '../../chat/groups/rows.ts'
import { entitiesOf } from '../../chat/messages/entities.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { createImportedView, type ImportResult, type ImportRow, toImportRow } from '../messages/index.ts'
import * as errors from './errors.ts'
import { makeGroups } from './make-groups.ts'
import { enrol, holdUsers } from './memberships.ts'
import { type Failure, type Outcome, refuse, stored } from './outcomes.ts'
import { refuseOrphans } from './parents.ts'
import { type Links, ownerOf, readRoster } from './roster.ts'
import { makeUsers } from './users.ts'

/** Imports messages: first the users and groups that they bring along, then, with those of other requests, themselves. */
export async function storeMessages(
  context: Context,
  appId: number,
  records: readonly ImportMessage[],
  now: number,
): Promise<Array<Outcome<Message>>> {
  const { refusals, ...cast } = await makeCast(context, appId, records, now)
  const rows = records.map((record, place) => (refusals[place] === undefined ? toImportRow(appId, record) : undefined))
  const admitted = rows.filter((row) => row !== undefined)
  const results = admitted.length === 0 ? [] : await context.messages.imports.write(admitted)
  const resultOf = new Map(admitted.map((row, place) => [row, results[place] as ImportResult]))

  const show = createImportedView(entitiesOf(cast.users, cast.groups))
  return rows.map((row, place): Outcome<Message> => {
    if (row === undefined) return refusals[place] as Failure
    const result = resultOf.get(row) as ImportResult
    if ('id' in result) return stored(show(row, result))
    if ('cause' in result) {
      context.log.error({ err: result.cause }, 'an imported message could not be stored')
      return refuse(errors.notStored(row.muid))
    }
    if (result.refusal === 'MUID_OF_ANOTHER_MESSAGE') {
      return refuse(errors.muidOfAnother(row.muid))
    }
    return refuse(errorOf(result.refusal, row))
  })
}

interface Cast {
  readonly users: ReadonlyMap<string, UserRow>
  readonly groups: ReadonlyMap<string, GroupRow>
}

/** Makes the users and groups that the records bring along. @returns all that they name, and who is refused */
async function makeCast(
  context: Context,
  appId: number,
  records: readonly ImportMessage[],
  now: number,
): Promise<Cast & { refusals: Array<Failure | undefined> }> {
  const links = records.map(linksOf)
  const admitAll = async (on: Queryable, orphans: ReadonlyMap<number, Failure>) => {
    const roster = await readRoster(on, appId, links)
    return { roster, refusals: links.map((link, place) => orphans.get(place) ?? roster.admit(link)) }
  }
  // Most requests come for people who are all there.
  const { roster, refusals } = await admitAll(context.database, new Map())
  if (roster.newUsers.length === 0 && roster.newGroups.length === 0) return { ...roster, refusals }

  return context.database.transaction(async (tx) => {
    const { roster, refusals } = await admitAll(tx, await refuseOrphans(tx, appId, records))
    const users = await makeUsers(context, tx, appId, roster.newUsers, now)
    const owners = await holdUsers(
      tx,
      appId,
      roster.newGroups.map(({ owner }) => owner),
    )
    const { founders } = await makeGroups(tx, context.secrets, appId, roster.newGroups, now)
    await enrol(tx, appId, founders, owners, now)
    const guids = roster.newGroups.map(({ details }) => details.guid.toLowerCase())
    const groups = await readGroups(tx, appId, guids)
    return {
      users: new Map([...roster.users, ...users]),
      groups: new Map([...roster.groups, ...groups]),
      refusals,
    }
  })
}

function linksOf(message: ImportMessage): Links {
  const { sender, receiver, receiverType, senderUserDetails, mentionedUserDetails = {}, reactions = {} } = message
  const isGroup = receiverType === 'group'
  const group = isGroup ? message.receiverGroupDetails : undefined
  const owner = isGroup ? message.receiverGroupOwnerDetails : undefined
  return {
    users: [
      senderUserDetails,
      ...(isGroup ? [owner] : [message.receiverUserDetails]),
      ...Object.values(mentionedUserDetails),
    ],
    ...(group && { groups: [{ details: group, owner: ownerOf(group, owner) }] }),
    needsUsers: [
      sender.toLowerCase(),
      ...(isGroup ? [] : [receiver.toLowerCase()]),
      ...Object.values(reactions).flatMap((uids) => uids.map((uid) => uid.toLowerCase())),
    ],
    needsGroups: isGroup ? [receiver.toLowerCase()] : [],
  }
}

function errorOf(
  refusal: Exclude<Extract<ImportResult, { refusal: string }>['refusal'], 'ERR_EXCEPTION' | 'MUID_OF_ANOTHER_MESSAGE'>,
  row: ImportRow,
): ApiError {
  switch (refusal) {
    case 'ERR_IMPORT_MUID_ALREADY_EXISTS':
      return errors.muidExists(row.muid)
    case 'ERR_WRONG_MESSAGE_THREAD':
      return errors.parentElsewhere(row.muid, row.parentMuid)
    case 'ERR_MESSAGE_THREAD_NESTING':
      return errors.parentIsReply(row.parentMuid)
    case 'ERR_UID_NOT_FOUND':
      return errors.usersJustDeleted(row.sender, row.receiver)
    case 'ERR_GUID_NOT_FOUND':
      return errors.groupJustDeleted(row.receiver)
  }
}
