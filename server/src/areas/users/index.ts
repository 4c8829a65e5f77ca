export { areFriends } from './friends.ts'
export { keepActive, lockUser } from './locks.ts'
export { changeOwnProfile } from './profile.ts'
export { refuseDeactivated, requireActiveUser, requireUser, unknownUser } from './require.ts'
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
export { showUsers } from './view.ts'
