import type { ImportMessage, Message } from '@parley/contract'
import type { JsonText } from '../../chat/json.ts'
import { entitiesOf } from '../../chat/messages/entities.ts'
import { type FileUse, mayNameFiles, mediaKeysIn, readUses, recordAllUses } from '../../chat/messages/file-uses.ts'
import { messageErased, readErased } from '../../chat/users/erased.ts'
import type { Context } from '../../context.ts'
import { mapInTurns } from '../../pauses.ts'
import {
  createImportedWriter,
  type ImportResult,
  type ImportRow,
  isFaultOfData,
  toImportRow,
} from '../messages/index.ts'
import * as errors from './errors.ts'
import { Overtaken, resultsOf, type Written, writeWithCast } from './message-cast.ts'
import { type Failure, type Outcome, refuse, refuseMessage, stored } from './outcomes.ts'
import { type Links, ownerOf, type PresentRows, type Roster, readNames, readRoster } from './roster.ts'

/** An imported message as it is answered. */
export interface StoredMessage {
  readonly id: number
  /** Undefined where ids alone are wanted. */
  readonly text: JsonText<Message> | undefined
}

type StoreMessages = (
  context: Context,
  appId: number,
  records: readonly ImportMessage[],
  now: number,
) => Promise<Array<Outcome<StoredMessage>>>

/** @param idsOnly nobody wants to see the messages, so nothing is read to show them */
export function storeMessagesAs(idsOnly: boolean): StoreMessages {
  return (context, appId, records, now) => storeMessages(context, { appId, now, idsOnly }, records)
}

interface Wanted {
  readonly appId: number
  readonly now: number
  readonly idsOnly: boolean
}

/** Imports messages, with the users and groups that they bring along. */
async function storeMessages(
  context: Context,
  wanted: Wanted,
  records: readonly ImportMessage[],
): Promise<Array<Outcome<StoredMessage>>> {
  const { database, secrets } = context
  const muids = records.map(({ muid }) => muid)
  const erased = await readErased(database, secrets, wanted.appId, 'muid', muids)
  if (erased.size === 0) return storeUnerased(context, wanted, records)
  const kept = records.filter(({ muid }) => !erased.has(muid))
  const outcomes = kept.length === 0 ? [] : await storeUnerased(context, wanted, kept)
  let next = 0
  return muids.map((muid) =>
    erased.has(muid) ? refuse(messageErased(muid)) : (outcomes[next++] as Outcome<StoredMessage>),
  )
}

async function storeUnerased(
  context: Context,
  wanted: Wanted,
  records: readonly ImportMessage[],
): Promise<Array<Outcome<StoredMessage>>> {
  const { appId, idsOnly } = wanted
  const rows = await toRows(appId, records)
  const links = records.map(linksOf)
  const known: Roster & { readonly rows?: PresentRows } = await (idsOnly ? readNames : readRoster)(
    context,
    context.database,
    appId,
    links,
  )
  const refusals = links.map((link) => known.admit(link))
  if (known.newUsers.length > 0 || known.newGroups.length > 0) return storeWithCast(context, wanted, records)

  // Most requests come for people who are all there: their messages are stored with those of other requests.
  const admitted = rows.filter((_, place) => refusals[place] === undefined)
  const results = admitted.length === 0 ? [] : await context.messages.imports.write(admitted)
  const write = known.rows && createImportedWriter(entitiesOf(known.rows.users, known.rows.groups))
  return outcomesOf(context, rows, { refusals, results: resultsOf(admitted, results) }, write)
}

/**
 * Imports messages in the transaction that makes their users and groups. What cannot be stored as a whole is halved, so
 * that one bad record never fails its neighbours.
 */
async function storeWithCast(
  context: Context,
  wanted: Wanted,
  records: readonly ImportMessage[],
): Promise<Array<Outcome<StoredMessage>>> {
  const { appId, now, idsOnly } = wanted
  const rows = await toRows(appId, records)
  try {
    const written = await writeWithCast(context, appId, rows, records.map(linksOf), now)
    const write = idsOnly ? undefined : createImportedWriter(entitiesOf(written.users, written.groups))
    return await outcomesOf(context, rows, written, write)
  } catch (error) {
    if (!isFaultOfData(error) && !(error instanceof Overtaken)) throw error
    if (rows.length === 1) return rows.map((row) => notStored(context, row, error))
    const half = Math.ceil(records.length / 2)
    const before = await storeUnerased(context, wanted, records.slice(0, half))
    return [...before, ...(await storeUnerased(context, wanted, records.slice(half)))]
  }
}

function toRows(appId: number, records: readonly ImportMessage[]): Promise<ImportRow[]> {
  return mapInTurns(records, (record) => toImportRow(appId, record))
}

async function outcomesOf(
  context: Context,
  rows: readonly ImportRow[],
  written: Pick<Written, 'refusals' | 'results'>,
  write: ReturnType<typeof createImportedWriter> | undefined,
): Promise<Array<Outcome<StoredMessage>>> {
  await claimFiles(context, rows, written)
  const outcomeOf = (row: ImportRow, place: number): Outcome<StoredMessage> => {
    const result = written.results.get(row)
    if (result === undefined) return written.refusals[place] as Failure
    if ('id' in result) {
      // What it quotes is not there: everything else is.
      const ignored = row.quotedMuid !== null && result.quotedId === null ? { ignored: ['quotedMuid'] } : {}
      return { ...stored({ id: result.id, text: write?.(result) }), ...ignored }
    }
    if ('cause' in result) return notStored(context, row, result.cause)
    return refuseMessage(result.refusal, row, result.holder)
  }
  return mapInTurns(rows, outcomeOf)
}

/**
 * Notes which files of the app messages use, since those that nothing uses are removed after a day. Those of messages that
 * are there already are noted again: an import that was cut off may have stored them and no more.
 */
async function claimFiles(
  { database }: Pick<Context, 'database'>,
  rows: readonly ImportRow[],
  { results, refusals }: Pick<Written, 'refusals' | 'results'>,
): Promise<void> {
  const [app] = rows
  if (app === undefined) return
  const uses: FileUse[] = []
  const there: number[] = []
  for (const [place, row] of rows.entries()) {
    const result = results.get(row)
    if (result !== undefined && 'id' in result) {
      uses.push(...mediaKeysIn(row.data).map((key) => ({ messageId: result.id, key })))
      continue
    }
    if (!mayNameFiles(row.data)) continue
    const holder = result === undefined ? refusals[place]?.id : holderOf(result)
    if (holder !== undefined) there.push(Number(holder))
  }
  // What a message names that is there may be another file than what the record names now.
  await recordAllUses(database, app, [...uses, ...(await readUses(database, app, there))])
}

/** The message that a row is, where it is there already. */
function holderOf(result: ImportResult): number | undefined {
  return 'holder' in result && result.refusal === 'ERR_IMPORT_MUID_ALREADY_EXISTS' ? result.holder : undefined
}

function notStored(context: Pick<Context, 'log'>, row: ImportRow, cause: unknown): Failure {
  context.log.error({ err: cause }, 'an imported message could not be stored')
  return refuse(errors.notStored(row.muid))
}

/** It names its sender and receiver, and no more. */
function bringsNobody(message: ImportMessage): boolean {
  return (
    message.reactions === undefined &&
    message.savedBy === undefined &&
    message.senderUserDetails === undefined &&
    message.receiverUserDetails === undefined &&
    message.receiverGroupDetails === undefined &&
    message.receiverGroupOwnerDetails === undefined &&
    message.mentionedUserDetails === undefined
  )
}

function linksOf(message: ImportMessage): Links {
  const { sender, receiver, receiverType, senderUserDetails, mentionedUserDetails = {} } = message
  const { reactions = {}, savedBy = {} } = message
  const isGroup = receiverType === 'group'
  if (bringsNobody(message)) {
    const uid = sender.toLowerCase()
    return isGroup
      ? { needsUsers: [uid], needsGroups: [receiver.toLowerCase()] }
      : { needsUsers: [uid, receiver.toLowerCase()] }
  }
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
      ...Object.values(reactions).flatMap((given) =>
        given.map((entry) => (typeof entry === 'string' ? entry : entry.uid).toLowerCase()),
      ),
      ...Object.keys(savedBy).map((uid) => uid.toLowerCase()),
    ],
    needsGroups: isGroup ? [receiver.toLowerCase()] : [],
  }
}
