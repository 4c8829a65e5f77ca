import { ApiError } from '@parley/contract'

// Accounts

export function unknownOperator(id: string): ApiError {
  return new ApiError('ERR_OPERATOR_NOT_FOUND', `There is no operator with the id ${id}.`)
}

export function operatorExists(email: string): ApiError {
  return new ApiError('ERR_OPERATOR_ALREADY_EXISTS', `There is an operator ${email} already.`)
}

export function lastOwner(): ApiError {
  return new ApiError('ERR_LAST_OWNER', 'No owner of all apps would be left.')
}

export function unknownInvitation(id: string): ApiError {
  return new ApiError('ERR_LINK_NOT_FOUND', `There is no invitation ${id}.`)
}

export function unknownLink(): ApiError {
  return new ApiError('ERR_LINK_NOT_FOUND', 'This link was used, has expired, or is not valid.')
}

/** What somebody does not have they cannot give to a token. */
export function lacksRight(right: string): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `You do not have the right "${right}" yourself.`)
}

// Passwords and codes

export function wrongPassword(): ApiError {
  return new ApiError('ERR_WRONG_PASSWORD')
}

export function tooManyGuesses(waitMs: number): ApiError {
  return new ApiError('ERR_TOO_MANY_REQUESTS', 'Too many passwords were wrong.').retryAfter(Math.ceil(waitMs / 1000))
}

export function passwordsWait(): ApiError {
  return new ApiError('ERR_MISSION_FAILED', 'Too many passwords wait to be checked. Try again.').retryAfter(5)
}

export function codeRequired(): ApiError {
  return new ApiError('ERR_OPERATOR_CODE_REQUIRED')
}

export function wrongCode(): ApiError {
  return new ApiError('ERR_WRONG_OPERATOR_CODE')
}

// Sessions and tokens

export function unknownOwnSession(id: string): ApiError {
  return new ApiError('ERR_SESSION_NOT_FOUND', `There is no session ${id} of yours.`)
}

export function unknownSessionOf(uid: string): ApiError {
  return new ApiError('ERR_SESSION_NOT_FOUND', `${uid} has no such session.`)
}

export function unknownOwnToken(id: string): ApiError {
  return new ApiError('ERR_TOKEN_NOT_FOUND', `There is no token ${id} of yours.`)
}

// Sign-in by a provider

export function noSignInProvider(): ApiError {
  return new ApiError('ERR_NO_SIGN_IN_PROVIDER')
}

export function signInRefused(): ApiError {
  return new ApiError('ERR_SIGN_IN_REFUSED')
}

export function providerUnavailable(): ApiError {
  return new ApiError('ERR_SIGN_IN_PROVIDER_UNAVAILABLE').retryAfter(5)
}

export function unknownSignIn(): ApiError {
  return new ApiError(
    'ERR_SIGN_IN_NOT_FOUND',
    'This sign-in was used, has expired, or was begun in another browser. Please begin again.',
  )
}

export function operatorDisabled(): ApiError {
  return new ApiError('ERR_OPERATOR_DISABLED')
}

export function notInvited(): ApiError {
  return new ApiError('ERR_NOT_INVITED')
}

export function addressNotVerified(): ApiError {
  return new ApiError('ERR_NOT_INVITED', 'The provider does not say that your e-mail address is verified.')
}

/** Whoever has the address at the provider may not be whose account it is: only the account itself links them. */
export function addressHasAccount(): ApiError {
  return new ApiError(
    'ERR_NOT_INVITED',
    'There is an account with your e-mail address. If it is yours, sign in by its password and link it under Your account.',
  )
}

export function accountIsLinked(): ApiError {
  return new ApiError('ERR_IDENTITY_ALREADY_EXISTS')
}

export function identityIsLinked(): ApiError {
  return new ApiError('ERR_IDENTITY_ALREADY_EXISTS', 'You, or another operator, are linked with this provider already.')
}

export function notLinked(): ApiError {
  return new ApiError('ERR_IDENTITY_NOT_FOUND')
}

// Apps and the service

export function appExists(name: string): ApiError {
  return new ApiError('ERR_APP_ALREADY_EXISTS', `There is an app ${name} already.`)
}

export function doctorRuns(): ApiError {
  return new ApiError('ERR_DOCTOR_RUNS', 'The doctor is running already. Stop it, or wait for it.')
}

export function journalOfAllApps(): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', 'The journal has texts of all apps: it is for operators of all apps.')
}
