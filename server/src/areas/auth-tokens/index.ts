export { issueToken, removeTokens } from './tokens.ts'
