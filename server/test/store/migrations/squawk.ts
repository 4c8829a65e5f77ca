import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Need } from '../../gate/needs.ts'

/**
 * Left out: lock_timeout is set by whoever runs migrations (`migrate.ts`), and no statement of one may take long; integers of 32 bits
 * are for what stays small.
 */
const leftOut = [
  'require-lock-timeout',
  'require-statement-timeout',
  'prefer-bigint-over-int',
  'prefer-text-field',
  'prefer-identity',
]

function program(): string {
  return (createRequire(import.meta.url)('squawk-cli/js/index.js') as { getBinaryPath(): string }).getBinaryPath()
}

/** npm brings the program for a few systems only. */
export const squawk: Need = { isMet: isThere(), otherwise: 'there is no squawk for this system', inGate: true }

function isThere(): boolean {
  try {
    return existsSync(program())
  } catch {
    return false
  }
}

/** What squawk, a linter of migrations, says of statements. @returns a sentence each */
export function lintMigration(sent: readonly string[], inTransaction: boolean): string[] {
  if (sent.length === 0) return []
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-squawk-'))
  const file = path.join(folder, 'migration.sql')
  try {
    writeFileSync(file, sent.map((text) => `${text.trim()};\n`).join(''))
    const options = [`--exclude=${leftOut.join(',')}`, '--pg-version=15.0', '--reporter=json']
    if (inTransaction) options.push('--assume-in-transaction')
    const { stdout, stderr, error } = spawnSync(program(), [...options, file], { encoding: 'utf8' })
    if (error !== undefined) throw error
    if (!stdout.trim().startsWith('[')) throw new Error(`squawk did not run: ${stdout}${stderr}`)
    const found = JSON.parse(stdout) as Array<{ rule_name: string; message: string; line: number }>
    const lines = sent.flatMap((text) => `${text.trim()};`.split('\n'))
    return found.map(({ rule_name, message, line }) => `${rule_name}: ${message} (${lines[line]?.trim().slice(0, 80)})`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
