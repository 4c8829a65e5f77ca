import { erasable } from '../../chat/erasure.ts'

export const tables = [erasable('auth_tokens', { uids: ['uid'] }), erasable('ended_jwts', { uids: ['uid'] })]
