export { deleteApp, pauseApp, resumeApp, undeleteApp } from './lifecycle.ts'
export { type Removals, removeDueApps, startRemovals } from './removal.ts'
