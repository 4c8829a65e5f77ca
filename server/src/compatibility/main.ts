import { writeFile } from 'node:fs/promises'
import { routes } from '../routes.ts'
import { describeCompatibility } from './table.ts'

const file = new URL('../../../docs/compatibility.md', import.meta.url)
await writeFile(file, describeCompatibility(routes.map((route) => route.operation)))
