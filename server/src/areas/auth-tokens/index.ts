export { endSessionOf, listSessionsOf } from './sessions.ts'
export { checkUse, endJwt, importToken, issueToken, recordUse, removeOwnToken, removeTokens } from './tokens.ts'
