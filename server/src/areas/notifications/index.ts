export * from './replies/index.ts'
