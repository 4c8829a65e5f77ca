/** Exit codes of `parley import`, as its help lists them. */
export const exitCodes = { done: 0, refused: 1, usage: 2, unreachable: 3, interrupted: 130 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Something that ends the whole import; the message is for the person in front of the terminal. */
export class ImportFailure extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.name = 'ImportFailure'
    this.exitCode = exitCode
  }
}
