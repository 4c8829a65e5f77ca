import { erasable, untouched } from '../../chat/erasure.ts'

export const tables = [erasable('presence', { uids: ['uid'] }), untouched('presence_nodes', 'they name processes')]
