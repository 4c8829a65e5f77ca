import { untouched } from '../../chat/erasure.ts'

export const tables = [
  untouched('api_keys', 'keys are of the app'),
  untouched('deleted_api_keys', 'keys are of the app'),
  untouched('data_keys', 'keys are of the installation'),
  untouched('key_holders', 'processes are of the installation'),
]
