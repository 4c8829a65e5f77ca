export { type BlockedMessage, blockMessage } from './block.ts'
export { eraseHeldOf } from './erase.ts'
export {
  type Became,
  type Decider,
  type Deciding,
  type ModerationRow,
  type Refused,
  readModeration,
  type WaitingEdit,
} from './holding.ts'
export { type Released, type Releasing, releaseMessage } from './release.ts'
export { type Restored, restoreMessage } from './restore.ts'
export { type SettledEdit, settleEdit } from './settle-edit.ts'
