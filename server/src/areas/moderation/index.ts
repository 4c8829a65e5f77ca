export { createModerationJudge } from './judge.ts'
export { isBlockedWaiting, isFlaggedWaiting } from './queue/waiting.ts'
export { revisionId } from './revision-id.ts'
export { createDryRuns } from './trials/look.ts'
