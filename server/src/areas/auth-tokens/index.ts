export { issueToken, recordUse, removeToken, removeTokens } from './tokens.ts'
