export { createGroupMarkWriter } from './group-marks.ts'
export { markReceived } from './marks.ts'
