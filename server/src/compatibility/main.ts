import { writeFile } from 'node:fs/promises'
import { routesByFile } from '../routes.ts'
import { describeCompatibility, servedOperations } from './table.ts'

const file = new URL('../../../docs/compatibility.md', import.meta.url)
await writeFile(file, describeCompatibility(servedOperations(routesByFile)))
