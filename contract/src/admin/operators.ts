import { type Static, Type } from 'typebox'
import { NoParams, oneOf } from '../schemas.ts'
import { defineAdminOperation } from './operation.ts'
import { type OperatorRight, operatorRights, operatorRoles } from './rights.ts'

const rightNames = Object.keys(operatorRights) as OperatorRight[]
const NoQuery = Type.Object({})
const Right = oneOf(...rightNames)
const Role = oneOf(...operatorRoles)
const Epoch = (description: string) => Type.Integer({ description: `${description}, epoch seconds` })

const EmailIn = Type.String({ minLength: 3, maxLength: 254, pattern: '^[^\\s@]+@[^\\s@]+$' })
const OperatorNameIn = Type.String({ minLength: 1, maxLength: 100 })
const PasswordIn = Type.String({ minLength: 12, maxLength: 200, description: 'At least 12 characters' })
/** One that is held against the right one: its length says nothing. */
const AnyPasswordIn = Type.String({ minLength: 1, maxLength: 200 })
const CodeIn = Type.String({ pattern: '^[0-9]{6}$', description: 'Six digits of the authenticator app' })
const LinkIn = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'The part of the address after `=`' })
const AppsIn = Type.Union(
  [Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 1000 }), Type.Null()],
  {
    description: 'Ids of apps; `null` for all apps, those to come included',
  },
)
const IdParam = Type.Object({ id: Type.String({ pattern: '^[0-9]{1,9}$' }) })

const grants = {
  role: Role,
  apps: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Ids of apps; `null`: all' }),
  mayRead: Type.Boolean({ description: 'Whether they may read what people wrote' }),
}

const Issuer = Type.Optional(
  Type.String({ description: 'The OpenID Connect provider that the account is linked with; absent: none' }),
)

export const Operator = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  ...grants,
  hasTotp: Type.Boolean(),
  issuer: Issuer,
  createdAt: Epoch('When the account was made'),
  lastSeenAt: Type.Optional(Epoch('When they last did something, to the minute')),
  disabledAt: Type.Optional(Epoch('When the account was disabled')),
})
export type OperatorShown = Static<typeof Operator>

export const Me = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  ...grants,
  rights: Type.Array(Right, { description: 'What the role allows, in each of the apps' }),
  hasTotp: Type.Boolean(),
  hasPassword: Type.Boolean({ description: 'Accounts that were made by OpenID Connect have none' }),
  issuer: Issuer,
  sessionId: Type.Optional(Type.String({ description: 'Absent for personal tokens' })),
})
export type MeShown = Static<typeof Me>

const meAnswer = Type.Object({ data: Me })
const done = Type.Object({ data: Type.Object({ success: Type.Literal(true) }) })

export const setUpOwner = defineAdminOperation({
  id: 'set-up-owner',
  area: 'Signing in',
  method: 'POST',
  path: '/setup',
  summary: 'Create the first owner',
  description:
    'With the token of the one-time address that a service without operators prints at its start, or that `parley operators setup` prints. The answer sets the cookie of a session.',
  access: 'anybody',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ token: LinkIn, email: EmailIn, name: OperatorNameIn, password: PasswordIn }),
  answer: meAnswer,
  errors: ['ERR_LINK_NOT_FOUND', 'ERR_OPERATOR_ALREADY_EXISTS', 'ERR_PERMISSION_DENIED'],
})

export const acceptInvitation = defineAdminOperation({
  id: 'accept-invitation',
  area: 'Signing in',
  method: 'POST',
  path: '/invitations/accept',
  summary: 'Create the account that an invitation is for',
  description: 'The answer sets the cookie of a session.',
  access: 'anybody',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ token: LinkIn, name: OperatorNameIn, password: PasswordIn }),
  answer: meAnswer,
  errors: ['ERR_LINK_NOT_FOUND', 'ERR_OPERATOR_ALREADY_EXISTS', 'ERR_PERMISSION_DENIED'],
})

export const signIn = defineAdminOperation({
  id: 'sign-in',
  area: 'Signing in',
  method: 'POST',
  path: '/session',
  summary: 'Sign in',
  description:
    'The answer sets the cookie of a session, which ends 12 hours after it was last used, and after 7 days. Whoever guesses must wait longer and longer.',
  access: 'anybody',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ email: EmailIn, password: AnyPasswordIn, code: Type.Optional(CodeIn) }),
  answer: meAnswer,
  errors: ['ERR_WRONG_PASSWORD', 'ERR_OPERATOR_CODE_REQUIRED', 'ERR_WRONG_OPERATOR_CODE', 'ERR_PERMISSION_DENIED'],
})

/** What leads from a provider's page back to where somebody was. It stays in the console: it is a path below `/console`. */
const ReturnToIn = Type.String({
  pattern: '^/(?![/\\\\])[^\\s\\\\]*$',
  maxLength: 1000,
  description: 'Where to go afterwards: a path below `/console`, such as `/apps`',
})
const fromProvider = {
  state: Type.String({ pattern: '^(?:link|sign-in)\\.[A-Za-z0-9_-]{43}$' }),
  code: Type.String({ minLength: 1, maxLength: 4000 }),
  iss: Type.Optional(Type.String({ maxLength: 1000 })),
}
const atProvider = Type.Object({
  data: Type.Object({ address: Type.String({ description: 'The page of the provider to go to' }) }),
})
const providerErrors = ['ERR_NO_SIGN_IN_PROVIDER', 'ERR_SIGN_IN_PROVIDER_UNAVAILABLE', 'ERR_PERMISSION_DENIED'] as const

export const getSignInProvider = defineAdminOperation({
  id: 'get-sign-in-provider',
  area: 'Signing in',
  method: 'GET',
  path: '/sign-in/provider',
  summary: 'Whether operators can sign in by OpenID Connect',
  access: 'anybody',
  params: NoParams,
  query: NoQuery,
  answer: Type.Object({
    data: Type.Object({
      issuer: Issuer,
      name: Type.Optional(Type.String({ description: 'Host of the provider; absent: none is set up' })),
    }),
  }),
  errors: ['ERR_PERMISSION_DENIED'],
})

export const beginProviderSignIn = defineAdminOperation({
  id: 'begin-provider-sign-in',
  area: 'Signing in',
  method: 'POST',
  path: '/sign-in/provider',
  summary: 'Begin to sign in by OpenID Connect',
  description:
    'The answer sets a cookie, valid for 10 minutes, and has the address of the provider. The provider leads back to `/console/sign-in`, with what finishes the sign-in, once and in the same browser.',
  access: 'anybody',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ returnTo: Type.Optional(ReturnToIn) }),
  answer: atProvider,
  errors: providerErrors,
})

export const finishProviderSignIn = defineAdminOperation({
  id: 'finish-provider-sign-in',
  area: 'Signing in',
  method: 'POST',
  path: '/session/provider',
  summary: 'Finish signing in by OpenID Connect',
  description:
    'The answer sets the cookie of a session. Whoever comes for the first time needs an invitation of the e-mail address that the provider has verified; it makes the account, which is theirs from then on, whatever their address. No code of an authenticator app is asked for: a second factor is the business of the provider.',
  access: 'anybody',
  params: NoParams,
  query: NoQuery,
  body: Type.Object(fromProvider),
  answer: Type.Object({ data: Type.Object({ ...Me.properties, returnTo: Type.Optional(Type.String()) }) }),
  errors: [
    ...providerErrors,
    'ERR_SIGN_IN_NOT_FOUND',
    'ERR_SIGN_IN_REFUSED',
    'ERR_NOT_INVITED',
    'ERR_OPERATOR_DISABLED',
  ],
})

export const getOwnSession = defineAdminOperation({
  id: 'get-own-session',
  area: 'Signing in',
  method: 'GET',
  path: '/session',
  summary: 'Who is signed in, and what they may do',
  access: 'signedIn',
  params: NoParams,
  query: NoQuery,
  answer: meAnswer,
  errors: [],
})

export const signOut = defineAdminOperation({
  id: 'sign-out',
  area: 'Signing in',
  method: 'DELETE',
  path: '/session',
  summary: 'Sign out',
  access: 'signedIn',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  answer: done,
  errors: [],
})

const Session = Type.Object({
  id: Type.String(),
  createdAt: Epoch('When they signed in'),
  usedAt: Epoch('When it was last used, to the minute'),
  expiresAt: Epoch('When it ends at the latest'),
  address: Type.Optional(Type.String({ description: 'IP address that they signed in from' })),
  agent: Type.Optional(Type.String({ description: 'The browser, as it names itself' })),
  isThis: Type.Boolean(),
})

export const listSessions = defineAdminOperation({
  id: 'list-operator-sessions',
  area: 'Account',
  method: 'GET',
  path: '/sessions',
  summary: 'List your sessions, newest first',
  access: 'signedIn',
  params: NoParams,
  query: NoQuery,
  answer: Type.Object({ data: Type.Array(Session) }),
  errors: [],
})

export const endSession = defineAdminOperation({
  id: 'end-operator-session',
  area: 'Account',
  method: 'DELETE',
  path: '/sessions/{id}',
  summary: 'End one of your sessions',
  access: 'signedIn',
  sessionOnly: true,
  params: IdParam,
  query: NoQuery,
  answer: done,
  errors: ['ERR_SESSION_NOT_FOUND'],
})

export const changePassword = defineAdminOperation({
  id: 'change-operator-password',
  area: 'Account',
  method: 'PUT',
  path: '/password',
  summary: 'Change your password',
  description: 'All other sessions end.',
  access: 'signedIn',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ current: AnyPasswordIn, password: PasswordIn }),
  answer: done,
  errors: ['ERR_WRONG_PASSWORD'],
})

export const beginTotp = defineAdminOperation({
  id: 'begin-totp',
  area: 'Account',
  method: 'POST',
  path: '/totp',
  summary: 'Begin to use an authenticator app',
  description:
    'Returns the secret for the authenticator app. Once you have confirmed a code, each sign-in asks for one.',
  access: 'signedIn',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ password: AnyPasswordIn }),
  answer: Type.Object({ data: Type.Object({ secret: Type.String(), address: Type.String() }) }),
  errors: ['ERR_WRONG_PASSWORD'],
})

export const confirmTotp = defineAdminOperation({
  id: 'confirm-totp',
  area: 'Account',
  method: 'POST',
  path: '/totp/confirm',
  summary: 'Confirm the authenticator app with a code',
  access: 'signedIn',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ code: CodeIn }),
  answer: done,
  errors: ['ERR_WRONG_OPERATOR_CODE'],
})

export const endTotp = defineAdminOperation({
  id: 'end-totp',
  area: 'Account',
  method: 'DELETE',
  path: '/totp',
  summary: 'Stop using the authenticator app',
  access: 'signedIn',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ password: AnyPasswordIn }),
  answer: done,
  errors: ['ERR_WRONG_PASSWORD'],
})

export const beginLink = defineAdminOperation({
  id: 'begin-operator-link',
  area: 'Account',
  method: 'POST',
  path: '/link',
  summary: 'Begin to link your account with OpenID Connect',
  description: 'As `POST /sign-in/provider`. `POST /link/confirm` finishes it.',
  access: 'signedIn',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ password: AnyPasswordIn }),
  answer: atProvider,
  errors: [...providerErrors, 'ERR_WRONG_PASSWORD', 'ERR_IDENTITY_ALREADY_EXISTS'],
})

export const confirmLink = defineAdminOperation({
  id: 'confirm-operator-link',
  area: 'Account',
  method: 'POST',
  path: '/link/confirm',
  summary: 'Finish linking your account with OpenID Connect',
  description: 'From then on you can sign in with it, too. Your e-mail address there need not be that of the account.',
  access: 'signedIn',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  body: Type.Object(fromProvider),
  answer: done,
  errors: [...providerErrors, 'ERR_SIGN_IN_NOT_FOUND', 'ERR_SIGN_IN_REFUSED', 'ERR_IDENTITY_ALREADY_EXISTS'],
})

export const endLink = defineAdminOperation({
  id: 'end-operator-link',
  area: 'Account',
  method: 'DELETE',
  path: '/link',
  summary: 'Unlink your account from OpenID Connect',
  description: 'For accounts with a password. Sessions stay open.',
  access: 'signedIn',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ password: AnyPasswordIn }),
  answer: done,
  errors: ['ERR_WRONG_PASSWORD', 'ERR_IDENTITY_NOT_FOUND'],
})

const token = {
  id: Type.String(),
  name: Type.String(),
  rights: Type.Array(Right),
  apps: grants.apps,
  createdAt: Epoch('When it was made'),
  expiresAt: Epoch('Until when it is valid'),
  usedAt: Type.Optional(Epoch('When it was last used, to the minute')),
}

export const listTokens = defineAdminOperation({
  id: 'list-operator-tokens',
  area: 'Account',
  method: 'GET',
  path: '/tokens',
  summary: 'List your personal tokens, newest first',
  access: 'signedIn',
  params: NoParams,
  query: NoQuery,
  answer: Type.Object({ data: Type.Array(Type.Object(token)) }),
  errors: [],
})

export const createToken = defineAdminOperation({
  id: 'create-operator-token',
  area: 'Account',
  method: 'POST',
  path: '/tokens',
  summary: 'Create a personal token for scripts',
  description:
    'It is sent as `Authorization: Bearer <token>`, may never do more than its operator, and is shown this once.',
  access: 'signedIn',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    name: OperatorNameIn,
    rights: Type.Array(Right, { minItems: 1, maxItems: rightNames.length, uniqueItems: true }),
    apps: Type.Optional(AppsIn),
    days: Type.Integer({ minimum: 1, maximum: 366, description: 'For how many days it is valid' }),
  }),
  answer: Type.Object({ data: Type.Object({ ...token, token: Type.String() }) }),
  errors: ['ERR_APP_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
})

export const deleteToken = defineAdminOperation({
  id: 'delete-operator-token',
  area: 'Account',
  method: 'DELETE',
  path: '/tokens/{id}',
  summary: 'Delete one of your personal tokens',
  access: 'signedIn',
  sessionOnly: true,
  params: IdParam,
  query: NoQuery,
  answer: done,
  errors: ['ERR_TOKEN_NOT_FOUND'],
})

export const listOperators = defineAdminOperation({
  id: 'list-operators',
  area: 'Operators',
  method: 'GET',
  path: '/operators',
  summary: 'List the operators',
  access: 'operators',
  params: NoParams,
  query: NoQuery,
  answer: Type.Object({ data: Type.Array(Operator) }),
  errors: [],
})

const changeable = { role: Type.Optional(Role), apps: Type.Optional(AppsIn), mayRead: Type.Optional(Type.Boolean()) }

export const updateOperator = defineAdminOperation({
  id: 'update-operator',
  area: 'Operators',
  method: 'PUT',
  path: '/operators/{id}',
  summary: 'Change what an operator may do, or disable the account',
  description:
    'What is left out stays. Their sessions go on with what they may do now; those of a disabled account end.',
  access: 'operators',
  sessionOnly: true,
  params: IdParam,
  query: NoQuery,
  body: Type.Object({ ...changeable, disabled: Type.Optional(Type.Boolean()) }),
  answer: Type.Object({ data: Operator }),
  errors: ['ERR_OPERATOR_NOT_FOUND', 'ERR_APP_NOT_FOUND', 'ERR_LAST_OWNER'],
})

export const deleteOperator = defineAdminOperation({
  id: 'delete-operator',
  area: 'Operators',
  method: 'DELETE',
  path: '/operators/{id}',
  summary: 'Delete an operator',
  access: 'operators',
  sessionOnly: true,
  params: IdParam,
  query: NoQuery,
  answer: done,
  errors: ['ERR_OPERATOR_NOT_FOUND', 'ERR_LAST_OWNER'],
})

const Invitation = Type.Object({
  id: Type.String(),
  email: Type.String(),
  ...grants,
  invitedBy: Type.Optional(Type.String({ description: 'ID of the operator' })),
  createdAt: Epoch('When it was made'),
  expiresAt: Epoch('Until when it can be accepted'),
})

export const listInvitations = defineAdminOperation({
  id: 'list-invitations',
  area: 'Operators',
  method: 'GET',
  path: '/invitations',
  summary: 'List the invitations that can be accepted, newest first',
  access: 'operators',
  params: NoParams,
  query: NoQuery,
  answer: Type.Object({ data: Type.Array(Invitation) }),
  errors: [],
})

export const invite = defineAdminOperation({
  id: 'invite-operator',
  area: 'Operators',
  method: 'POST',
  path: '/invitations',
  summary: 'Invite an operator',
  description:
    'The answer has the token of a one-time address, `/console#invitation=<token>`, which is valid for 7 days and shown this once. Another invitation of the same address takes the place of the one before.',
  access: 'operators',
  sessionOnly: true,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    email: EmailIn,
    role: Role,
    apps: Type.Optional(AppsIn),
    mayRead: Type.Optional(Type.Boolean({ description: 'Default: as the role says' })),
  }),
  answer: Type.Object({ data: Type.Object({ ...Invitation.properties, token: Type.String() }) }),
  errors: ['ERR_OPERATOR_ALREADY_EXISTS', 'ERR_APP_NOT_FOUND'],
})

export const withdrawInvitation = defineAdminOperation({
  id: 'withdraw-invitation',
  area: 'Operators',
  method: 'DELETE',
  path: '/invitations/{id}',
  summary: 'Withdraw an invitation',
  access: 'operators',
  sessionOnly: true,
  params: IdParam,
  query: NoQuery,
  answer: done,
  errors: ['ERR_LINK_NOT_FOUND'],
})
