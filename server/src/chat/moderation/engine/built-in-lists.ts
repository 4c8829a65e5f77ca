import { createRequire } from 'node:module'
import { cuss } from 'cuss'
import type { ListRevision } from '../model.ts'

/** A list of words that comes with the service. No rule uses one unless somebody says so. */
export interface BuiltInList extends ListRevision {
  readonly name: string
  readonly description: string
}

const source = 'naughty-words (CC BY 4.0)'

/**
 * Words that both sources of the English list name, and that are said as often without harm: of medicine and of news, of
 * other meanings, and of other languages (`cum laude`).
 */
const ordinary = new Set(
  `anal anus bondage clitoris coon coons cornhole cum cumming darkie dingleberry ejaculation fisting hooker
  incest intercourse kinky lolita masturbate masturbating nipple nude orgasm pedophile penis playboy poof quim rape rapist
  rectum scat semen sex sexual sexually sexy smut snatch sodomy spunk suck swastika tit tosser twink twinkie vagina
  vibrator vulva xxx`
    .trim()
    .split(/\s+/),
)

/** What makes a compound sure: the other words of the second source are milder, or names of food. */
const stem = /fuck|shit|cunt|bitch|nigg(?!ard|l)|asshole|whore|slut|wanker|faggot|cocksuck|dickhead|pussy/

let lists: readonly BuiltInList[] | undefined

/**
 * `profanity-list`, the English one, and one for each other language that there is one for: `profanity-list-de` and so on.
 * The same objects each time, so that what is compiled of them is shared by all apps.
 */
export function builtInLists(): readonly BuiltInList[] {
  lists ??= makeLists()
  return lists
}

function makeLists(): readonly BuiltInList[] {
  const byLanguage = readTerms(createRequire(import.meta.url)('naughty-words'))
  const names = new Intl.DisplayNames('en', { type: 'language' })
  const list = (listId: string, language: string, terms: readonly string[], from: string): BuiltInList => ({
    listId,
    revision: 1,
    category: 'word',
    terms,
    name: `Profanity (${names.of(language)})`,
    description: `From ${from}. Read it before you use it.`,
  })
  const others = [...byLanguage]
    .filter(([language]) => language !== 'en')
    .map(([language, terms]) => {
      const short = language.split('-u-')[0]!
      return list(`profanity-list-${short.toLowerCase()}`, short, terms, source)
    })
  const english = englishTerms(byLanguage.get('en') ?? [])
  return [list('profanity-list', 'en', english, `what ${source} and cuss (MIT) agree on`), ...others]
}

/** Words that both sources name, and compounds of those that leave no doubt. */
function englishTerms(terms: readonly string[]): readonly string[] {
  const ratings = new Map(Object.entries(cuss))
  const both = terms.filter((term) => (ratings.get(term) ?? 0) > 0 && !ordinary.has(term))
  const compounds = [...ratings.keys()].filter((term) => ratings.get(term) === 2 && stem.test(term))
  return [...new Set([...both, ...compounds])].sort()
}

/** The package has no types: it is a list of words for each language. */
function readTerms(found: unknown): ReadonlyMap<string, readonly string[]> {
  const terms = new Map<string, readonly string[]>()
  for (const [language, words] of Object.entries(found ?? {}))
    if (Array.isArray(words))
      terms.set(
        language,
        words.filter((word) => typeof word === 'string'),
      )
  return terms
}
