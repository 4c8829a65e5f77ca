// Makes the fixture of a released version, for the tests of upgrades: `node tools/make-fixture.mjs <commit>`. It takes the version
// as it was in a folder of its own, fills a database with its own samples, and writes what pg_dump makes of that to
// server/test/upgrade/fixtures. TEST_DATABASE_URL names a PostgreSQL, the oldest that is supported, and PG_DUMP a pg_dump of its version.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '..')
const [commit] = process.argv.slice(2)
if (commit === undefined || !process.env.TEST_DATABASE_URL) {
  console.error('Usage: TEST_DATABASE_URL=postgres://... node tools/make-fixture.mjs <commit>')
  process.exit(2)
}
const folder = join(mkdtempSync(join(tmpdir(), 'parley-fixture-')), 'parley')
const run = (file, args, options = {}) => execFileSync(file, args, { cwd: folder, stdio: 'inherit', ...options })
run('git', ['worktree', 'add', '--detach', folder, commit], { cwd: repository })
const hash = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim()
try {
  const isSame = readFileSync(join(folder, 'package-lock.json')).equals(
    readFileSync(join(repository, 'package-lock.json')),
  )
  // Links between the packages are relative, so those of the copy lead to its own.
  if (isSame)
    cpSync(join(repository, 'node_modules'), join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true })
  else run('npm', ['ci', '--no-audit', '--no-fund'])
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const fixtures = join(repository, 'server/test/upgrade/fixtures')
  mkdirSync(fixtures, { recursive: true })
  mkdirSync(join(folder, 'server/test/upgrade'), { recursive: true })
  copyFileSync(
    join(repository, 'server/test/upgrade/make-fixture.ts'),
    join(folder, 'server/test/upgrade/make-fixture.test.ts'),
  )
  run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'server/test/upgrade/make-fixture.test.ts'], {
    env: { ...process.env, FIXTURE: join(fixtures, version), COMMIT: hash },
  })
  if (!existsSync(join(fixtures, `${version}.sql.gz`))) throw new Error('no fixture was made')
} finally {
  run('git', ['worktree', 'remove', '--force', folder], { cwd: repository })
  rmSync(join(folder, '..'), { recursive: true, force: true })
}
