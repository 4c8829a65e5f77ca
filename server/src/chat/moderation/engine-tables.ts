import { untouched } from '../erasure.ts'

export const engineTables = [untouched('moderation_engines', 'engines are of the app')]
