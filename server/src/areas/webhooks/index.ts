export { deliveryId } from './delivery-id.ts'
export { addJobs, deliverTask } from './request-delivery.ts'
export { sampleEvent } from './sample.ts'
export { readHookTargets, type Target, type TargetRow, targetColumns, toTarget } from './target.ts'
