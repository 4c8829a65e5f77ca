export { listEntries } from './list.ts'
