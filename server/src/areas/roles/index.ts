export { tellOfChange } from './roles.ts'
