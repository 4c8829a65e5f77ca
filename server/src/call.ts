import type { AnswerOf, BodyOf, HeadersOf, Operation, ParamsOf, QueryOf } from '@parley/contract'
import type { App, Caller } from './chat/identity.ts'
import type { JsonText } from './chat/json.ts'
import type { KnownEntity } from './chat/messages/entity-cache.ts'
import type { RolePolicy } from './chat/roles/policies.ts'
import type { RevisedUser, UserRow } from './chat/users/rows.ts'
import type { Context } from './context.ts'
import type { UploadedFile } from './media/library.ts'

/** Who acts, by what the declaration says of `onBehalfOf`: always a user, a user or the app (`undefined`), or nobody. */
export type ActorOf<O extends Operation> = O['onBehalfOf'] extends 'required'
  ? UserRow
  : O['onBehalfOf'] extends 'ignored'
    ? undefined
    : UserRow | undefined

/** One request to one operation, validated, with everything a handler may look at. */
export interface Call<O extends Operation> {
  readonly app: App
  readonly caller: Caller
  /** Host and port that answers name: those of `PUBLIC_URL`, else those that the client used, e.g. `chat.example.com:8443`. */
  readonly host: string
  /** The same with its scheme, such as `https://chat.example.com:8443`. */
  readonly origin: () => string
  /** Files that came with a form, taken in and stored. */
  readonly files: readonly UploadedFile[]
  /** The acting user, known and active, as the operation declares it. */
  readonly actor: ActorOf<O>
  /** What is set on the actor's role; absent where nothing is, and where there is no actor. */
  readonly policy: RolePolicy | undefined
  readonly params: ParamsOf<O>
  readonly query: QueryOf<O>
  /** Headers that the operation declares. */
  readonly headers: HeadersOf<O>
  readonly body: BodyOf<O>
}

/** A form that is being read, when one of its files is about to be taken in. */
export type ArrivingForm = Pick<Call<Operation>, 'app' | 'caller' | 'params' | 'actor' | 'policy' | 'files'> & {
  /** The fields so far; those that come behind the file are missing. They fit the declaration as far as they go. */
  readonly body: Readonly<Record<string, unknown>>
}

/** A call of a user who is known and active, and allowed to make it, as far as is remembered. */
export type RecalledCall<O extends Operation> = Pick<Call<O>, 'app' | 'caller' | 'params' | 'query'> & {
  readonly actor: RecalledActor
}

/** Who acts, as far as is remembered. */
export interface RecalledActor {
  readonly uid: string
  /** The revision of them that is remembered; 0 where none is. */
  readonly revision: number
  /** What was set on their role then. */
  readonly policy: RolePolicy | undefined
  /**
   * Who they are now.
   * @param current what a statement has returned about them; undefined: it found no such user
   * @returns undefined where they may not make the call
   */
  confirm(current: RevisedUser | undefined): Promise<ConfirmedActor | undefined>
}

/** Who acts, known and active, and allowed to make the call. */
export interface ConfirmedActor {
  readonly known: KnownEntity<UserRow>
  readonly row: UserRow
  readonly policy: RolePolicy | undefined
}

export interface RouteOptions<O extends Operation = Operation> {
  /**
   * A fast path for what is asked most: one statement that answers, and also tells whether the acting user still is as they are
   * remembered. It refuses nothing: where a rule might refuse or hide something, it returns undefined, and the handler is called
   * as usual.
   */
  shortcut?(call: RecalledCall<O>, context: Context): Promise<AnswerOf<O> | Serialized<AnswerOf<O>> | undefined>
  /**
   * The operation checks the acting user itself, in its own transaction: that they are known and active, and what their role
   * denies. The router does neither (http/operations.ts); it takes a form only from somebody it has checked.
   */
  readonly checksActor?: boolean
  /** The members of the body hold records, each of which the operation checks by itself: one cannot fail the others. */
  readonly takesRecords?: boolean
  /** How many receivers a valid body names, where it may name several: each counts against the limit of sends. */
  readonly receiversOf?: (body: object) => number
  /** Asks whether the files of a form may be stored, before they are. @throws as the operation would */
  readonly judgeForm?: (form: ArrivingForm, context: Context) => Promise<void>
}

/** An operation with the code that answers it. */
export interface Route {
  readonly operation: Operation
  readonly handle: (call: Call<Operation>, context: Context) => Promise<unknown>
  readonly options: RouteOptions
}

/** What a handler is given: an operation that checks the actor by itself has none to read. */
type Given<O extends Operation, Options extends RouteOptions> = Options['checksActor'] extends true
  ? Omit<Call<O>, 'actor' | 'policy'>
  : Call<O>

/** An answer that is written out already, for what is asked most. Its members must be those that are declared: nothing drops others. */
export class Serialized<Answer> {
  readonly text: JsonText<Answer>

  constructor(text: JsonText<Answer>) {
    this.text = text
  }

  toJSON(): Answer {
    return JSON.parse(this.text)
  }
}

/** Binds a handler to a declared operation; input and answer are typed by the declaration. */
export function serve<const O extends Operation, const Options extends RouteOptions = Record<never, never>>(
  operation: O,
  handle: (call: Given<O, Options>, context: Context) => Promise<AnswerOf<O> | Serialized<AnswerOf<O>>>,
  options?: Options & RouteOptions<O>,
): Route {
  return { operation, handle: handle as unknown as Route['handle'], options: (options ?? {}) as RouteOptions }
}
