export { createModerationJudge } from './judge.ts'
export { createDryRuns } from './trials/look.ts'
