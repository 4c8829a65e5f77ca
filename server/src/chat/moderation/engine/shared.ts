import { createHash } from 'node:crypto'
import { type Compiled, type CompileTask, joinTerms } from './compile-task.ts'
import { compileTerms } from './compiler.ts'

/** What is compiled, as long as an engine has it: the same terms are there once, for all rules, revisions and apps. */
const known = new Map<string, WeakRef<Promise<Compiled>>>()
const forgotten = new FinalizationRegistry<string>((key) => {
  if (known.get(key)?.deref() === undefined) known.delete(key)
})

/** Compiles terms, or finds what was compiled of the same ones. Whoever uses it must keep the promise, too. */
export function shareTerms(category: CompileTask['category'], terms: readonly string[]): Promise<Compiled> {
  const joined = joinTerms(terms)
  const key = createHash('sha256').update(category).update(joined).digest('base64')
  const before = known.get(key)?.deref()
  if (before !== undefined) return before
  const compiling = compileTerms({ category, terms: joined })
  known.set(key, new WeakRef(compiling))
  forgotten.register(compiling, key)
  compiling.catch(() => known.delete(key))
  return compiling
}
