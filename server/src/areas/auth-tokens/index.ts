export { endSessionOf, listSessionsOf } from './sessions.ts'
export { endJwt, importToken, issueToken, recordUse, removeOwnToken, removeTokens } from './tokens.ts'
