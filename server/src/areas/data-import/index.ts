export { checkRecords } from './check-records.ts'
export { linksOf, type Reference } from './links.ts'
export { storeMembers } from './members.ts'
export { storeUsers } from './users.ts'
