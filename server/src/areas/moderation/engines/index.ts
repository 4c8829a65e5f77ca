export { flawsOfEngines, needsLabels } from './labels.ts'
export { checkEngineUrl } from './settings.ts'
