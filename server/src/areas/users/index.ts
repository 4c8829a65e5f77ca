export { checkAuthKey } from './authority.ts'
export { changeOwnProfile } from './profile.ts'
