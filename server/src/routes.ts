import { operations as apiKeys } from './areas/api-keys/operations.ts'
import { operations as conversations } from './areas/conversations/operations.ts'
import { operations as messages } from './areas/messages/operations.ts'
import type { Route } from './call.ts'

/** Every operation that is served. A new area is added here. */
export const routes: readonly Route[] = [...apiKeys, ...conversations, ...messages]
