export { changeOwnProfile } from './profile.ts'
