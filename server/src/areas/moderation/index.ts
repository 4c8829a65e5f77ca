export { createModerationJudge } from './judge.ts'
export { revisionId } from './revision-id.ts'
export { createDryRuns } from './trials/look.ts'
