export { notifyOfChange } from './roles.ts'
