import { spawnSync } from 'node:child_process'

/** Copies a data folder that nobody works in, with owners and modes: to make one anew takes ten times as long. */
export function copyDataDir(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', `${from}/.`, to], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${from} cannot be copied to ${to}: ${stderr}`)
}
