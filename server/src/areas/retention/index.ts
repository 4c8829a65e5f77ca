export { startRetention } from './job.ts'
