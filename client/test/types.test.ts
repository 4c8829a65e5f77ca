import { readFileSync } from 'node:fs'
import type * as contract from '@parley/contract'
import type { Operation } from '@parley/contract'
import type { Static, TSchema } from 'typebox'
import { describe, expect, it } from 'vitest'
import type * as client from '../src/contract.ts'
import type { Calls, Key } from '../src/index.ts'
import { serverAreas } from '../src/server-areas.ts'
// @ts-expect-error: a program, without types
import { print as printCalls } from '../tools/print-calls.mjs'
// @ts-expect-error: a program, without types
import { print } from '../tools/print-types.mjs'

/** The same data: whether they may be changed does not count, and any object is one whose members are not known. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? keyof T extends never
      ? Record<string, unknown>
      : { -readonly [Name in keyof T]: Plain<T[Name]> }
    : T

/** `true` where either can stand for the other. */
type Same<A, B> = [Plain<A>] extends [Plain<B>] ? ([Plain<B>] extends [Plain<A>] ? true : false) : false

function holds<_ extends true>(): void {}

/** The operations that the contract declares, by their id. */
type Declared = {
  [Name in keyof typeof contract as (typeof contract)[Name] extends Operation
    ? (typeof contract)[Name]['id']
    : never]: (typeof contract)[Name]
}

type Address<Path> = Path extends `/messages/{id}${infer Rest}`
  ? `/messages/{messageId}${Rest}`
  : Path extends `/moderation/messages/{id}${infer Rest}`
    ? `/moderation/messages/{messageId}${Rest}`
    : Path

/** The name of an operation in the client. */
type KeyOf<O> = O extends { readonly method: infer Method extends string; readonly path: infer Path }
  ? Extract<Key, `${Method} ${Address<Path> & string}` | `${Method} ${Address<Path> & string}?${string}`>
  : never

type AnswerOf<O> = O extends { readonly plain: { readonly answer: infer Plain extends TSchema } }
  ? Static<Plain>
  : O extends { readonly answer: infer Answer extends TSchema }
    ? Static<Answer>
    : never

type BodyOf<O> = O extends { readonly plain: { readonly body: infer Body extends TSchema } }
  ? Static<Body>
  : O extends { readonly body: infer Body extends TSchema }
    ? Static<Body>
    : object

/** What goes in besides the path, whose members are strings. */
type AskedOf<O> = BodyOf<O> & (O extends { readonly query: infer Query extends TSchema } ? Static<Query> : object)
type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never

/** Ids of operations whose answer is printed otherwise than it is declared. */
type WrongAnswers = {
  [Id in keyof Declared]: Same<AnswerOf<Declared[Id]>, Calls[KeyOf<Declared[Id]>]['answer']> extends true ? never : Id
}[keyof Declared]

/** The same, of what goes in. */
type WrongInputs = {
  [Id in keyof Declared]: Same<
    Omit<AskedOf<Declared[Id]>, never>,
    Omit<Calls[KeyOf<Declared[Id]>]['input'], PathNames<KeyOf<Declared[Id]>>>
  > extends true
    ? never
    : Id
}[keyof Declared]

/**
 * Where the declared type is wider than its schema, on purpose: the schema lists the words that a text can be, or the members that a
 * map has, and so does what is printed from it.
 */
type Wider =
  | 'blockreview-flagged-message'
  | 'create-rule'
  | 'get-rule'
  | 'import-groups'
  | 'import-members'
  | 'import-messages'
  | 'import-records'
  | 'import-users'
  | 'list-rule-revisions'
  | 'list-rules'
  | 'notifications-push-list-preferences'
  | 'notifications-push-list-settings'
  | 'notifications-push-update-preferences'
  | 'send-bot-message'
  | 'send-message'
  | 'send-thread-message'
  | 'set-role-permissions'
  | 'set-scope-permissions'
  | 'update-rule'

type Unprinted = { [Id in keyof Declared]: [KeyOf<Declared[Id]>] extends [never] ? Id : never }[keyof Declared]

/** Names of interfaces that say otherwise than the type of the same name in the contract. */
interface Named {
  User: contract.User
  Group: contract.Group
  Message: contract.Message
  Conversation: contract.Conversation
  Thread: contract.Thread
  PageMeta: contract.PageMeta
  CursorMeta: contract.CursorMeta
}
type Printed = Pick<
  {
    User: client.User
    Group: client.Group
    Message: client.Message
    Conversation: client.Conversation
    Thread: client.Thread
    PageMeta: client.PageMeta
    CursorMeta: client.CursorMeta
  },
  keyof Named
>
type WrongNames = { [Name in keyof Named]: Same<Named[Name], Printed[Name]> extends true ? never : Name }[keyof Named]

describe('The types of the client', () => {
  it('are printed from the contract as it is (npm run client:types)', () => {
    expect(readFileSync(new URL('../src/contract.ts', import.meta.url), 'utf8')).toBe(print())
  })

  it('stand by all functions in docs/client-calls.md, which is as it is printed', () => {
    expect(readFileSync(new URL('../../docs/client-calls.md', import.meta.url), 'utf8')).toBe(printCalls())
    const named = new Set(JSON.stringify(serverAreas).match(/(?<=")[A-Z]+ \/[^"]*/g))
    // The same under the path of an app, and what other functions or other addresses stand for.
    const others = [
      ...print()
        .split('export interface AdminCalls')[0]
        .matchAll(/^ {2}'(.*)': \{$/gm),
    ]
      .map(([, key]) => key as string)
      .filter((key) => !named.has(key) && !key.includes('/apps/{appId}/'))
    expect(others).toEqual(['POST /files/upload-url', 'POST /groups/{guid}/members', 'POST /user_sessions'])
  })

  it('name no schema library, and nothing outside', () => {
    const text = readFileSync(new URL('../src/contract.ts', import.meta.url), 'utf8')
    expect(text).not.toMatch(/^import|typebox/im)
  })

  it('are those of the contract, both ways', () => {
    // The type check is the test: whatever is wrong is named in its error.
    holds<Same<Unprinted, never>>()
    holds<Same<Exclude<WrongAnswers, Wider>, never>>()
    holds<Same<Exclude<WrongInputs, Wider>, never>>()
    holds<Same<WrongNames, never>>()
    holds<Same<contract.ErrorCode, client.ErrorCode>>()
    expect(holds).toBeTypeOf('function')
  })
})
