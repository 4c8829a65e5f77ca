export { deleteApp, pauseApp, resumeApp, resumeAppWithin, undeleteApp } from './lifecycle.ts'
export { type Removals, removeDueApps, startRemovals } from './removal.ts'
