/** The command was called wrongly: its help is shown with what is wrong. */
export class UsageError extends Error {}

/**
 * Runs a command, and says what went wrong.
 * @returns the exit code: what the work gives, 1 when it failed, 2 when the command was called wrongly
 */
export async function runCommandLine(name: string, help: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    const isUsage =
      error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true
    process.stderr.write(`parley ${name}: ${(error as Error).message}\n${isUsage ? `\n${help}` : ''}`)
    return isUsage ? 2 : 1
  }
}
