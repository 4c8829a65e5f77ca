import { readFile, writeFile } from 'node:fs/promises'
import { routesByFile } from '../routes.ts'
import { withErrorCodes } from './errors.ts'
import { describeCompatibility, servedOperations } from './table.ts'

const file = new URL('../../../docs/compatibility.md', import.meta.url)
await writeFile(file, describeCompatibility(servedOperations(routesByFile)))

const api = new URL('../../../docs/api.md', import.meta.url)
await writeFile(api, withErrorCodes(await readFile(api, 'utf8')))
