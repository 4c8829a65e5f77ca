import { untouched } from '../../chat/erasure.ts'

export const tables = [untouched('api_keys', 'keys are of the app')]
