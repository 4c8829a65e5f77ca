export { banUser } from './bans.ts'
