export { type BlockInfo, readBlockInfo } from './info.ts'
