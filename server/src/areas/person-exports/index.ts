export { resumeExports } from './exports.ts'
export { startPersonExports } from './job.ts'
