import { expect, it } from 'vitest'
import { convertCommand } from '../../../src/cli/convert/run.ts'
import { runCommand } from '../command.ts'

it.each([
  [[], /there is no source ""/],
  [['teams', '/tmp'], /there is no source "teams"/],
  [['slack'], /name one folder/],
  [['slack', '/tmp'], /name the folder to write by --into/],
  [['slack', '/no/such/folder', '--into', '/tmp/x'], /is no folder/],
  [['slack', '/tmp', '--into', '/tmp/x', '--files', 'ftp://x'], /--files must start with http/],
  [['slack', '/tmp', '--what'], /Unknown option '--what'/],
])('parley convert %j is wrong usage', async (args, expected) => {
  const { code, err } = await runCommand(convertCommand, args, {})
  expect([code, err]).toEqual([2, expect.stringMatching(expected)])
  expect(err).toContain('Usage: parley convert')
})

it('parley convert --help says how', async () => {
  expect(await runCommand(convertCommand, ['--help'], {})).toMatchObject({
    code: 0,
    out: expect.stringContaining('Usage'),
  })
})
