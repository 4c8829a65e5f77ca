export { blockUsers } from './blocks.ts'
