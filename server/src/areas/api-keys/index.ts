export { insertKey as createApiKey } from './keys.ts'
