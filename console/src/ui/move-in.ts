/** What a move from a hosted service leaves in its folder, as far as this page shows it. */
export interface MoveIn {
  readonly report?: MoveReport
  readonly comparison?: Comparison
  readonly progress?: MoveProgress
}

interface MoveReport {
  readonly from?: string
  readonly into?: string | null
  readonly read?: Readonly<Record<string, number>>
  readonly settled?: Readonly<Record<string, unknown>>
  readonly notices?: ReadonlyArray<{
    readonly code: string
    readonly outcome: string
    readonly count: number
    readonly what?: string
    readonly examples?: readonly string[]
  }>
  readonly notOverRest?: readonly string[]
}

interface Comparison {
  readonly old?: string
  readonly new?: string
  readonly at?: string
  readonly isEqual: boolean
  readonly compared?: ReadonlyArray<{
    readonly name: string
    readonly source: number
    readonly target: number
    readonly isEqual: boolean
  }>
  readonly differences?: number
  readonly named?: ReadonlyArray<{ readonly where: string; readonly what: string; readonly fields?: readonly string[] }>
}

interface MoveProgress {
  readonly state?: {
    readonly done?: readonly string[]
    readonly counts?: Readonly<Record<string, number>>
    /** Epoch seconds. */
    readonly followed?: number
    readonly cutOver?: number
  }
}

const kinds = {
  'report.json': 'report',
  'verify.json': 'comparison',
  'checkpoint.json': 'progress',
} as const

export const isOfMoveIn = (name: string): name is keyof typeof kinds => Object.hasOwn(kinds, name)

/** Reads the files of a move among those that were dropped. @throws Error naming a file that is none of them */
export async function readMoveIn(files: readonly File[]): Promise<MoveIn | undefined> {
  const found = files.filter(({ name }) => isOfMoveIn(name))
  if (found.length === 0) return undefined
  const read = await Promise.all(
    found.map(async (file) => {
      const parsed = parse(await file.text())
      if (parsed === undefined) throw new Error(`${file.name} is not what a move-in writes.`)
      return [kinds[file.name as keyof typeof kinds], parsed] as const
    }),
  )
  return Object.fromEntries(read) as MoveIn
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
