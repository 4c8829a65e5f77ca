import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'rolldown/utils'

/** Takes the types out of a TypeScript file. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const file = fileURLToPath(url)
  const { code, errors } = transformSync(file, await readFile(file, 'utf8'))
  if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join('; ')}`)
  return { format: 'module', source: code, shortCircuit: true }
}
