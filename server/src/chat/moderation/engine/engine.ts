import type { Condition, Hit, JudgedMessage, ListRevision, Outcome, Question, RuleRevision } from '../model.ts'
import { stops } from '../model.ts'
import { buffersOf } from './compile-task.ts'
import { applies } from './filters.ts'
import { FoldingRoom } from './folded.ts'
import { countLinks } from './links.ts'
import { type Pattern, PatternCompiler } from './patterns.ts'
import type { SentenceList } from './sentences.ts'
import { shareTerms } from './shared.ts'
import type { Traffic } from './traffic.ts'
import { type Tools, View } from './view.ts'
import { findWords, isWord, type Span, startComparing, stopComparing, type WordList } from './words.ts'

/** The rules of an app, compiled. */
export interface Engine {
  /** A rule has filters, that is, it looks at the sender or the receiver. */
  readonly asksPeople: boolean
  /** What its lists take beside the heap; those with the same terms share it with others. */
  readonly bytes: number
  /**
   * What the rules say of a message. Rules in shadow are asked like others: the caller looks at the mode.
   *
   * @param traffic what senders have sent lately, and where this message is noted; without it, rules on rate and
   * repetition are never met
   */
  judge(message: JudgedMessage, traffic?: Traffic): Outcome
}

/** A list, or the literals of a condition, ready to be looked for. */
interface Matter {
  readonly list?: { readonly listId: string; readonly revision: number }
  readonly words?: WordList
  readonly patterns?: readonly Pattern[]
  readonly sentences?: SentenceList
  /** How similar, in percent, a text has to be more than. */
  readonly threshold?: number
  /** What `words` and `sentences` are of; it is shared as long as somebody has it. */
  readonly source?: Promise<unknown>
}

interface CompiledCondition {
  readonly condition: Condition
  readonly matters: readonly Matter[]
  readonly limit: number | undefined
  readonly questions: readonly Question[]
}

interface CompiledRule {
  readonly rule: RuleRevision
  readonly exceptions: WordList | undefined
  readonly conditions: readonly CompiledCondition[]
}

/** Of all engines: each message is judged in one go. */
const room = new FoldingRoom()

/**
 * Compiles the rules of an app: long lists in another thread, patterns a few at a time. Rules whose mode is off are left out;
 * a list that is not there is never met. Rejects where a pattern is no pattern (`flawOfPattern`).
 */
export async function compileEngine(rules: readonly RuleRevision[], lists: readonly ListRevision[]): Promise<Engine> {
  const patterns = new PatternCompiler()
  const matters = new Map<string, Matter>()
  await Promise.all(
    lists.map(async ({ listId, revision, category, terms }) => {
      const list = { listId, revision }
      matters.set(listId, { list, ...(await compileMatter(category, terms, patterns)) })
    }),
  )
  const compiled: CompiledRule[] = []
  for (const rule of rules) if (rule.mode !== 'off') compiled.push(await compileRule(rule, matters, patterns))
  const tools = { screen: patterns.screen(), budget: patterns.budget(), room }
  return {
    asksPeople: compiled.some(({ rule }) => rule.filters.length > 0),
    bytes: [...matters.values()].flatMap(buffersOf).reduce((sum, { byteLength }) => sum + byteLength, 0),
    judge: (message, traffic) => judge(compiled, tools, message, traffic),
  }
}

async function compileMatter(category: string, terms: readonly string[], patterns: PatternCompiler): Promise<Matter> {
  if (category === 'pattern') return { patterns: await patterns.compile(terms) }
  if (category !== 'word' && category !== 'sentence-similarity') return {}
  const source = shareTerms(category, terms)
  return { ...(await source), source }
}

async function compileRule(
  rule: RuleRevision,
  lists: ReadonlyMap<string, Matter>,
  patterns: PatternCompiler,
): Promise<CompiledRule> {
  const conditions: CompiledCondition[] = []
  for (const condition of rule.conditions) conditions.push(await compileCondition(rule, condition, lists, patterns))
  return {
    rule,
    exceptions: rule.exceptions.length > 0 ? (await shareTerms('word', rule.exceptions)).words : undefined,
    conditions,
  }
}

async function compileCondition(
  rule: RuleRevision,
  condition: Condition,
  lists: ReadonlyMap<string, Matter>,
  patterns: PatternCompiler,
): Promise<CompiledCondition> {
  const { category, operand, value, isListed } = condition
  const none = { condition, matters: [], limit: undefined, questions: [] }
  if (category === 'links' || category === 'length' || category === 'rate' || category === 'repetition')
    return { ...none, limit: formulaOf(value[0] ?? '').threshold }
  const isMedia = category === 'media' || (category === 'word' && (operand === 'image' || operand === 'video'))
  if (isMedia || category === 'custom-api' || category === 'prompt') {
    const questions = value.map((formula): Question => {
      const { name, threshold } = formulaOf(formula)
      const list = isMedia ? undefined : lists.get(name)?.list
      return { rule, condition, threshold, ...(list && { list }), ...(isMedia && { label: name }) }
    })
    return { ...none, questions: questions.filter(({ list }) => isMedia || list !== undefined) }
  }
  if (category === 'sentence-similarity') {
    const matters = value.map(formulaOf).flatMap(({ name, threshold }) => {
      const matter = lists.get(name)
      return matter === undefined ? [] : { ...matter, threshold }
    })
    return { ...none, matters }
  }
  const matters = isListed
    ? value.flatMap((id) => lists.get(id) ?? [])
    : [await compileMatter(category, value, patterns)]
  return { ...none, matters }
}

/** `<name>_greaterThan_<number>`, or `greaterThan_<number>`; a name alone asks for more than half. */
function formulaOf(formula: string): { readonly name: string; readonly threshold: number } {
  const found = /^(?:(.*)_)?greaterThan_(\d+(?:\.\d+)?)$/su.exec(formula)
  return found === null ? { name: formula, threshold: 50 } : { name: found[1] ?? '', threshold: Number(found[2]) }
}

function judge(
  rules: readonly CompiledRule[],
  tools: Tools,
  message: JudgedMessage,
  traffic: Traffic | undefined,
): Outcome {
  const began = performance.now()
  tools.room.clear()
  tools.budget.renew()
  startComparing()
  const { hits, questions } = ask(rules, tools, message, traffic)
  const cut = tools.budget.cut + (stopComparing() ? 1 : 0)
  const isStopped = hits.some(({ rule }) => rule.mode === 'on' && rule.actions.some(stops))
  return { hits, questions: isStopped ? [] : questions, cut, took: Math.round(1000 * (performance.now() - began)) }
}

function ask(
  rules: readonly CompiledRule[],
  tools: Tools,
  message: JudgedMessage,
  traffic: Traffic | undefined,
): { readonly hits: Hit[]; readonly questions: Question[] } {
  const views = [new View('text', message.text, tools), new View('custom', message.custom, tools)]
  const hits: Hit[] = []
  const questions: Question[] = []
  const counts = countTraffic(message, traffic)
  for (const rule of rules) {
    if (!applies(rule.rule.filters, message)) continue
    const seen = rule.exceptions === undefined ? views : views.map((view) => takeOut(rule.exceptions!, view))
    const before = hits.length
    for (const compiled of rule.conditions) {
      const hit = meet(compiled, seen, counts)
      if (hit !== undefined) hits.push({ rule: rule.rule, condition: compiled.condition, ...hit })
    }
    if (hits.length > before) continue
    for (const { questions: asked } of rule.conditions)
      questions.push(...asked.filter((question) => concerns(question, message)))
  }
  return { hits, questions }
}

/** The text without what a rule excepts: blanks stand there, so that places stay. */
function takeOut(exceptions: WordList, view: View): View {
  const spans = findWords(exceptions, view.folded)
  if (spans.length === 0) return view
  const units = view.text.split('')
  // From behind, by where they end: they may overlap, and each place is filled once.
  let filled = units.length
  for (const { start, end } of spans.sort((one, other) => other.end - one.end)) {
    if (start >= filled) continue
    units.fill('\n', start, Math.min(end, filled))
    filled = start
  }
  return view.with(units.join(''))
}

interface Counts {
  readonly rate: () => number
  readonly repetition: () => number
}

/** A message is noted once, by the first rule that asks. */
function countTraffic({ sender, text }: JudgedMessage, traffic: Traffic | undefined): Counts {
  let rate: number | undefined
  let repetition: number | undefined
  return {
    rate: () => (rate ??= traffic?.countRate(sender.uid) ?? 0),
    repetition: () => (repetition ??= text === '' ? 0 : (traffic?.countRepetitions(sender.uid, text) ?? 0)),
  }
}

function meet(
  { condition, matters, limit }: CompiledCondition,
  views: readonly View[],
  counts: Counts,
): Pick<Hit, 'list' | 'match' | 'confidence'> | undefined {
  const { category } = condition
  if (limit !== undefined && category === 'rate') return counts.rate() > limit ? {} : undefined
  if (limit !== undefined && category === 'repetition') return counts.repetition() > limit ? {} : undefined
  const view = views.find((one) => one.in === condition.operand)
  if (view === undefined || view.text === '') return undefined
  if (limit !== undefined && category === 'links') return countLinks(view.text) > limit ? {} : undefined
  if (limit !== undefined && category === 'length') return [...view.text].length > limit ? {} : undefined
  for (const matter of matters) {
    const list = matter.list && { list: matter.list }
    if (matter.sentences !== undefined) {
      const confidence = view.similarityTo(matter.sentences)
      if (confidence > (matter.threshold ?? 50)) return { ...list, confidence }
      continue
    }
    const span = find(matter, view, condition.operator === 'equals')
    if (span !== undefined) {
      const { start, end } = span
      return { ...list, match: { in: view.in, start, end, text: view.text.slice(start, end) } }
    }
  }
  return undefined
}

function find({ words, patterns }: Matter, view: View, asWhole: boolean): Span | undefined {
  const whole = { start: 0, end: view.text.length }
  if (words !== undefined) {
    if (asWhole) return isWord(words, view.folded) ? whole : undefined
    return view.findWord(words)
  }
  for (const pattern of patterns ?? []) {
    if (asWhole && view.isPattern(pattern)) return whole
    const span = asWhole ? undefined : view.findPattern(pattern)
    if (span !== undefined) return span
  }
  return undefined
}

/** Whether there is anything in the message that a question is about. */
function concerns({ condition: { operand } }: Question, message: JudgedMessage): boolean {
  if (operand === 'text') return message.text !== ''
  if (operand === 'custom') return message.custom !== ''
  return message.files.some(({ shownAs }) => shownAs.includes(operand))
}
