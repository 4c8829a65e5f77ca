import type { CursorMeta, PageMeta } from '../contract.ts'
import { ConnectionError, statusOf } from '../errors.ts'
import type { Attachment, Uploadable, UploadOptions } from '../files.ts'
import type { Signal } from '../platform.ts'

/** What the live face needs of a user's client: requests, and the token that the socket shares with them. */
export interface Port {
  /** Where the service answers, without a path. */
  readonly url: string
  readonly appId: string | undefined
  /** The header `resource` of every request: what they do is not said to this device. */
  readonly deviceId: string
  /** One request; only reading is repeated. A token that has expired is renewed. */
  call<T>(method: string, path: string, options?: PortRequest): Promise<T>
  upload(files: readonly Uploadable[], options: UploadOptions): Promise<Attachment[]>
  newMuid(): string
  /** The token, from the product's function where there is none yet. */
  token(): Promise<string>
  /** @returns whether there is a token other than this one, which was refused */
  renewToken(refused: string): Promise<boolean>
}

export interface PortRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly signal?: Signal | undefined
  /** The client is being closed, and perhaps its page: it is sent once, with the token that there is. */
  readonly isLast?: boolean
}

export interface Listed<T> {
  readonly data: readonly T[]
  readonly meta?: Partial<CursorMeta> & Partial<PageMeta>
}

/** How many rows all pages of a list have. */
export function totalOf({ meta }: Listed<unknown>): number {
  return meta?.pagination?.total ?? 0
}

export interface Answered<T> {
  readonly data: T
}

/** Whether it was refused because the user may not see it any more, or because it is gone. */
export function isOutOfSight(error: unknown): boolean {
  const status = statusOf(error)
  return status === 403 || status === 404
}

/** Whether asking again may help: nobody answered, or the service could not at the moment. */
export function mayPass(error: unknown): boolean {
  const status = statusOf(error)
  return error instanceof ConnectionError || status === 408 || status === 429 || status >= 500
}
