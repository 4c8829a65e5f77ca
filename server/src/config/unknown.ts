import { closestMatch } from 'leven'
import { readConfig } from './index.ts'

/** A variable that no setting has, and the setting that it may be meant for. */
export interface UnknownSetting {
  readonly name: string
  readonly nearest: string | undefined
}

/** Variables of commands and tests, which may stand in the same file. */
const ofCommands = [
  ...['PARLEY_URL', 'PARLEY_EXPORT_PASSPHRASE', 'MOVE_IN_API_KEY', 'MOVE_IN_API_KEY_FILE'],
  ...['TEST_DATABASE_URL', 'TEST_LOG_LEVEL'],
]

/** Letters by which a misspelt name may differ; short names are near to too much. */
const mostDifferences = (name: string) => (name.length <= 5 ? 1 : 2)

/**
 * Finds misspelt settings. In a file of our own every unknown name counts, in the environment those that are near to a
 * setting, since it holds the variables of everything else too.
 */
export function findUnknownSettings(
  environment: Readonly<Record<string, string | undefined>>,
  ofFile: readonly string[] = [],
): UnknownSetting[] {
  const known = [...settingNames(), ...ofCommands]
  const isKnown = (name: string) => known.includes(name)
  const nearestTo = (name: string) => closestMatch(name.toUpperCase(), known, { maxDistance: mostDifferences(name) })
  const inFile = ofFile.filter((name) => !isKnown(name)).map((name) => ({ name, nearest: nearestTo(name) }))
  const elsewhere = Object.keys(environment)
    .filter((name) => !isKnown(name) && !ofFile.includes(name))
    .map((name) => ({ name, nearest: nearestTo(name) }))
    .filter(({ nearest }) => nearest !== undefined)
  return [...inFile, ...elsewhere]
}

/** The sentence about one of them, for the log. */
export function describeUnknown({ name, nearest }: UnknownSetting): string {
  const question = nearest === undefined ? '' : `; did you mean ${nearest}?`
  return `${name} is not a setting of this service${question}`
}

/** The variables that the configuration reads: all of them, whatever they say. */
function settingNames(): Set<string> {
  const names = new Set<string>()
  readConfig(
    new Proxy({} as Record<string, string>, {
      get(_, name) {
        names.add(String(name))
        return undefined
      },
    }),
  )
  return names
}
