import { readFile } from 'node:fs/promises'

export const shortestPassphrase = 12

/**
 * The passphrase of an export: that of the file, else that of `PARLEY_EXPORT_PASSPHRASE`. Never from the command line, which
 * other users of the machine can read.
 * @returns undefined where there is none
 * @throws PassphraseError where it is too short, or the file that was named has none
 */
export async function readPassphrase(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const text = file === undefined ? env.PARLEY_EXPORT_PASSPHRASE : await readText(file)
  if (text === undefined || text === '') return undefined
  if (text.length < shortestPassphrase)
    throw new PassphraseError(`a passphrase must have at least ${shortestPassphrase} characters`)
  return text
}

async function readText(file: string): Promise<string> {
  try {
    const text = (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
    if (text !== '') return text
  } catch (error) {
    throw new PassphraseError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  throw new PassphraseError(`${file} is empty`)
}

export class PassphraseError extends Error {}
