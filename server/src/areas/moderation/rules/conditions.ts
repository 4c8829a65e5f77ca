import type { ErrorDetail, RuleCondition, RuleConditionIn } from '@parley/contract'
import { flawOfTerms } from '../../../chat/moderation/engine/terms.ts'
import type { ListCategory } from '../../../chat/moderation/model.ts'
import { isListed, readFormula, textsOf } from '../../../chat/moderation/rules.ts'

/** Categories whose values always name lists. */
const alwaysListed: ReadonlySet<string> = new Set(['sentence-similarity', 'custom-api', 'prompt'])
const counted: ReadonlySet<string> = new Set(['links', 'length', 'rate', 'repetition'])

/** Conditions as they are kept and answered: numbered, with what was left out. */
export function numberConditions(conditions: readonly RuleConditionIn[]): RuleCondition[] {
  return conditions.map((given, index) => {
    const { operand, category, operator, value, message, isKeywordReferencePresent, isListReferencePresent } = given
    const isOfPicture = operand === 'image' || operand === 'video'
    const spellings = [given.isKeywordsReferencePresent, isKeywordReferencePresent, isListReferencePresent]
    return {
      id: index + 1,
      isKeywordsReferencePresent: spellings.includes(true) || alwaysListed.has(category),
      ...(isKeywordReferencePresent !== undefined && { isKeywordReferencePresent }),
      ...(isListReferencePresent !== undefined && { isListReferencePresent }),
      isMediaPresent: given.isMediaPresent ?? isOfPicture,
      ...{ entity: 'message', operand, category, operator: operator ?? 'contains', value },
      ...(message !== undefined && { message }),
    }
  })
}

/** What is wrong with conditions by themselves, whatever lists there are. */
export function flawsOfConditions(conditions: readonly RuleCondition[]): ErrorDetail[] {
  return conditions.flatMap((condition, index) => {
    const path = `body/conditions/${index}`
    const flaws = flawsOf(condition)
    return flaws.map(({ at, message }) => ({ path: `${path}/${at}`, message }))
  })
}

interface Flaw {
  readonly at: string
  readonly message: string
}

function flawsOf(condition: RuleCondition): Flaw[] {
  const { operand, category, isMediaPresent } = condition
  const isOfPicture = operand === 'image' || operand === 'video'
  if (isMediaPresent && !isOfPicture) return [{ at: 'isMediaPresent', message: `does not fit the operand ${operand}` }]
  if (isOfPicture && category === 'word') return everyValue(condition, flawOfLabel)
  // A language model is shown no videos.
  const isAsked = category === 'custom-api' || (category === 'prompt' && operand === 'image')
  if (isOfPicture && !isAsked) {
    return [{ at: 'category', message: `does not fit the operand ${operand}` }]
  }
  if (counted.has(category)) return flawsOfCount(condition)
  if (isListed(condition)) return alwaysListed.has(category) ? everyValue(condition, flawOfThreshold) : []
  return everyValue(condition, category === 'pattern' ? flawOfLiteralPattern : flawOfWord)
}

function everyValue({ value }: RuleCondition, flawOf: (value: string) => string | undefined): Flaw[] {
  return textsOf(value).flatMap((text, index) => {
    const message = flawOf(text)
    return message === undefined ? [] : [{ at: typeof value === 'string' ? 'value' : `value/${index}`, message }]
  })
}

function flawOfLabel(value: string): string | undefined {
  const formula = readFormula(value)
  if (formula === undefined || formula.name === '') return 'must be <label>_greaterThan_<percent>'
  return flawOfPercent(formula.percent)
}

function flawOfThreshold(value: string): string | undefined {
  const formula = readFormula(value)
  return formula && flawOfPercent(formula.percent)
}

function flawOfPercent(percent: number): string | undefined {
  return percent > 100 ? 'must not have more than 100 percent' : undefined
}

function flawsOfCount({ value, category }: RuleCondition): Flaw[] {
  const isOfTraffic = category === 'rate' || category === 'repetition'
  const isFormula = isOfTraffic ? /^greaterThan_[0-9]{1,3}$/ : /^greaterThan_[0-9]{1,6}$/
  const values = textsOf(value)
  if (values.length === 1 && isFormula.test(values[0] as string)) return []
  const most = isOfTraffic ? ' up to 999' : ''
  return [{ at: 'value', message: `must be greaterThan_<number>${most} for ${category}, and nothing else` }]
}

function flawOfWord(value: string): string | undefined {
  return unusable(flawOfTerms('word', [value])[0]?.message)
}

function flawOfLiteralPattern(value: string): string | undefined {
  return unusable(flawOfTerms('pattern', [value])[0]?.message)
}

function unusable(flaw: string | undefined): string | undefined {
  return flaw && `cannot be used: ${flaw}`
}

/** What is wrong with the lists that conditions name. @param lists category of each that is there */
export function flawsOfReferences(
  conditions: readonly RuleCondition[],
  lists: ReadonlyMap<string, ListCategory>,
): ErrorDetail[] {
  return conditions.flatMap((condition, index) => {
    if (!isListed(condition)) return []
    const { category } = condition
    return textsOf(condition.value).flatMap((value) => {
      const id = alwaysListed.has(category) ? (readFormula(value)?.name ?? value) : value
      const found = lists.get(id)
      if (found === category) return []
      const message =
        found === undefined
          ? `names the list ${id}, which does not exist`
          : `names the list ${id} of the category ${found}, not ${category}`
      return { path: `body/conditions/${index}/value`, message }
    })
  })
}
