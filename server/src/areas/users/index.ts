export { checkAuthKey } from './authority.ts'
export { deactivateUsers } from './deactivation.ts'
export { deleteForGood } from './deletion.ts'
export { changeOwnProfile } from './profile.ts'
