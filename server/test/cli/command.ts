import { vi } from 'vitest'

/** How a command ended, and what it wrote. */
export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command of `parley` in this process. */
export async function runCommand(
  command: (args: string[]) => Promise<number>,
  args: string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ended> {
  const written = { out: '', err: '' }
  const take = (name: keyof typeof written) => (text: unknown, done?: unknown) => {
    written[name] += String(text)
    if (typeof done === 'function') done()
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(take('out'))
  vi.spyOn(process.stderr, 'write').mockImplementation(take('err'))
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  try {
    return { code: await command(args), ...written }
  } finally {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
  }
}
