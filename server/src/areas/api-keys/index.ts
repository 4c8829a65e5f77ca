export { importKey, insertKey as createApiKey } from './keys.ts'
export { removeKeysInTime } from './replace.ts'
