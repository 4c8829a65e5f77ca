import { erasable, untouched } from '../erasure.ts'

export const appTables = [untouched('apps', 'an app is removed with everything in it')]

export const userTables = [
  erasable('users', { uids: ['uid'] }),
  untouched('former_users', 'it holds the uids that were removed for good'),
  untouched('erased_digests', 'it holds digests of what was removed for good'),
  untouched('erasures', 'it says what was removed for good, under a digest'),
]
