export { ensureKey, importKey, insertKey as createApiKey, selectKeys } from './keys.ts'
export { endReplacedKeys, type HeldKey, removeKeysInTime, replaceKey, selectHeldKeys } from './replace.ts'
