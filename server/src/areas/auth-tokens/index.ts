export { issueToken, recordUse, removeOwnToken, removeTokens } from './tokens.ts'
