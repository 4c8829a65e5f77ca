import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'

/** A place in what was built (tools/bundle.mjs): the clone or package, the file in it, line and column. */
const builtPlace = /file:\/\/(\/[^\s()]*?)(\/server\/dist\/[^\s():]+\.js):(\d+):(\d+)/g

/** Errors come in crowds. A map takes much memory, so it is kept for these milliseconds. */
const keptMs = 60_000
const kept = new Map<string, SourceMap | undefined>()

/** A stack that names places in the sources, such as `server/src/http/server.ts:12:3`, as far as the maps beside what was built lead there. */
export function inSources(stack: string): string {
  return stack.replace(builtPlace, (place, root: string, file: string, line: string, column: string) => {
    const built = decodeURI(root + file)
    const entry = mapOf(built)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !('originalSource' in entry)) return place
    const source = path.relative(decodeURI(root), path.resolve(path.dirname(built), entry.originalSource))
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  })
}

function mapOf(built: string): SourceMap | undefined {
  if (!kept.has(built)) {
    kept.set(built, readMap(built))
    setTimeout(() => kept.delete(built), keptMs).unref()
  }
  return kept.get(built)
}

/** @returns undefined where there is none that can be read: then the stack stays as it is, since what is logged must not fail for it */
function readMap(built: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${built}.map`, 'utf8')))
  } catch {
    return undefined
  }
}
