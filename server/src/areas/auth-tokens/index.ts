export { endSessionOf, listSessionsOf } from './sessions.ts'
export { endJwt, issueToken, recordUse, removeOwnToken, removeTokens } from './tokens.ts'
