import { erasable, untouched } from '../erasure.ts'

export const appTables = [untouched('apps', 'apps are not removed')]

export const userTables = [
  erasable('users', { uids: ['uid'] }),
  untouched('former_users', 'it holds the uids that were removed for good'),
]
