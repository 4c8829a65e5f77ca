import { untouched } from '../../chat/erasure.ts'

export const tables = [untouched('roles', 'roles are of the app; users name theirs')]
