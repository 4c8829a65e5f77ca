import { erasable } from '../../chat/erasure.ts'

export const tables = [erasable('blocks', { uids: ['blocker', 'blocked'] })]
