import { readFileSync } from 'node:fs'
import { Parser } from '@asyncapi/parser'

// Errors and warnings; that there is a newer version of the format is neither.
const problems = (await new Parser().validate(readFileSync(process.argv[2], 'utf8'))).filter(
  ({ severity }) => severity < 2,
)
for (const { code, message, path } of problems) console.log(`${path.join('/')}: ${message} (${code})`)
process.exitCode = problems.length === 0 ? 0 : 1
