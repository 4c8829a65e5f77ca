export { requireActiveUser, requireUser } from './require.ts'
export {
  nameKey,
  readUser,
  readUsers,
  showDeletedUser,
  showUser,
  type UserRow,
  type UserView,
  userColumns,
} from './rows.ts'
