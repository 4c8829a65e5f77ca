import type { Route } from '../../call.ts'

export const operations: Route[] = []
