export { importKey, insertKey as createApiKey } from './keys.ts'
