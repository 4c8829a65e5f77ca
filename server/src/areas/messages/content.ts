import { faultsOfAttachments, isWebAddress, limits, mediaTypes } from '@parley/contract'
import { attachmentsOf } from '../../chat/messages/traits.ts'
import * as errors from './errors.ts'
import { checkMentions } from './mentions/text.ts'

/** The checked content of a message: category, type and `data` as they are stored, and the uids it mentions. */
export interface Content {
  readonly category: string
  readonly type: string
  readonly data: Record<string, unknown>
  /** `data` as JSON text */
  readonly json: string
  readonly mentioned: readonly string[]
}

const interactiveTypes = ['card', 'form', 'customInteractive', 'scheduler']
const maxTypeLength = 100

/** The property of `data.metadata` that only the service can write. */
const injected = '@injected'

/** Properties of `data` that only the service can write. */
const reserved = ['entities', 'mentions', 'reactions', 'moderation']

/** Removes them, in place. To delete what is not there costs more than to look. */
export function removeReserved(data: Record<string, unknown>): void {
  for (const name of reserved) if (Object.hasOwn(data, name)) delete data[name]
}

/**
 * Checks what a client wants to send.
 * @throws 400, with the contract's code for what is missing or wrong
 */
export function checkContent(sent: Sent): Content {
  if (sent.category === '') throw errors.emptyCategory()
  if (sent.type === '') throw errors.emptyType()
  checkSaid(sent.data)
  const content = contentOf(sent)
  checkSaidFile(content, sent.data)
  return content
}

interface Sent {
  readonly category?: string
  readonly type?: string
  readonly data?: Record<string, unknown>
}

function contentOf(sent: Sent): Content {
  const category = sent.category ?? 'message'
  const data = { ...sent.data }
  removeReserved(data)

  const type = checkCategory(category, sent.type, data)
  removeInjected(data)
  checkMetadata(data)
  const json = JSON.stringify(data)
  const bytes = Buffer.byteLength(json)
  if (bytes > limits.messageDataBytes) {
    throw errors.dataTooLarge(bytes)
  }
  return { category, type, data, json, mentioned: checkMentions(data) }
}

/**
 * Checks what a message says once it was edited: members of `data` that are sent replace those that are stored, which may be
 * of another kind in old and in imported messages. What judges put into it stays.
 * @throws as `checkContent`
 */
export function checkEdit(
  stored: { readonly category: string; readonly type: string; readonly data: Record<string, unknown> },
  data: Record<string, unknown> | undefined,
): Content {
  checkSaid(data)
  const merged = { ...stored.data, ...data }
  // It repeats that of the first attachment, which may be another now.
  if (stored.category === 'message' && data?.attachments !== undefined && data.url === undefined) delete merged.url
  const content = contentOf({ ...stored, data: merged })
  checkSaidFile(content, data)
  return withInjected(content, injectedOf(stored.data))
}

/** What judges put into `data.metadata["@injected"]`; clients cannot write there. */
export function injectedOf({ metadata }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return objectOf(objectOf(metadata)[injected])
}

/** The same content with other things in `data.metadata["@injected"]`, or without it where there is nothing to put there. */
export function withInjected(content: Content, values: Record<string, unknown>): Content {
  const { [injected]: _, ...metadata } = objectOf(content.data.metadata)
  if (Object.keys(values).length > 0) metadata[injected] = values
  else if (Object.keys(injectedOf(content.data)).length === 0) return content
  const data = { ...content.data, metadata }
  return { ...content, data, json: JSON.stringify(data) }
}

function removeInjected(data: Record<string, unknown>): void {
  const { metadata } = data
  if (typeof metadata !== 'object' || metadata === null || !Object.hasOwn(metadata, injected)) return
  const { [injected]: _, ...others } = metadata as Record<string, unknown>
  data.metadata = others
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** @returns the type of the message; the default of its category if none was sent */
function checkCategory(category: string, type: string | undefined, data: Record<string, unknown>): string {
  switch (category) {
    case 'message':
      return checkMessage(type ?? 'text', data)
    case 'custom':
      return checkCustom(type, data)
    case 'interactive':
      return checkInteractive(type ?? 'card', data)
    default:
      throw errors.invalidCategory(category)
  }
}

/** What front ends look for in a message of any category is of one kind in all of them, so that none fails at it. */
function checkSaid(data: Record<string, unknown> = {}): void {
  if (data.text !== undefined && typeof data.text !== 'string') throw errors.invalidText()
  const [fault] = faultsOfAttachments(data)
  if (fault !== undefined) throw errors.invalidAttachments(fault)
}

function checkMessage(type: string, data: Record<string, unknown>): string {
  if (type === 'text') {
    if (data.text === undefined || data.text === '') throw errors.missingText()
  } else if (mediaTypes.includes(type)) {
    checkMedia(data)
  } else {
    throw errors.invalidType(type, ['text', ...mediaTypes])
  }
  return type
}

/** A media message refers to its files by URL: in `attachments`, or a single one in `url`. */
function checkMedia(data: Record<string, unknown>): void {
  const [first] = attachmentsOf(data)
  if (first === undefined && !isWebAddress(data.url)) throw errors.missingFile()
  data.url ||= first?.url
}

/** Front ends look for the file of a media message in its `url`, also where attachments are beside it. */
function checkSaidFile({ category, type }: Content, { url }: Record<string, unknown> = {}): void {
  if (category !== 'message' || !mediaTypes.includes(type) || url === undefined || url === null || url === '') return
  if (!isWebAddress(url)) throw errors.invalidFileAddress()
}

function checkCustom(type: string | undefined, data: Record<string, unknown>): string {
  if (type === undefined) throw errors.missingCustomType()
  if (type.length > maxTypeLength) throw errors.typeTooLong(maxTypeLength)
  if (data.customData === undefined || data.customData === null || data.customData === '') {
    throw errors.missingCustomData()
  }
  if (typeof data.customData !== 'object') throw errors.invalidCustomData()
  return type
}

function checkInteractive(type: string, data: Record<string, unknown>): string {
  if (!interactiveTypes.includes(type)) throw errors.invalidType(type, interactiveTypes)
  const content = type === 'customInteractive' ? (data.interactiveData ?? data.data) : data.interactiveData
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw errors.invalidInteractiveData()
  }
  return type
}

function checkMetadata({ metadata }: Record<string, unknown>): void {
  if (metadata === undefined) return
  if (typeof metadata !== 'object' || metadata === null) throw errors.invalidMetadata()
  if (Buffer.byteLength(JSON.stringify(metadata)) > limits.metadataBytes) throw errors.metadataTooLarge()
}
