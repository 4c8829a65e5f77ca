export { storeMembers } from './members.ts'
export { storeUsers } from './users.ts'
