import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { offerSetup } from '../../src/areas/operators/index.ts'
import { routes } from '../../src/routes.ts'
import { version } from '../../src/version.ts'
import { furnish, samples } from '../http/samples.ts'
import { pathOf, queryOf } from '../http/watched.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { databaseUrl } from '../support/own-database.ts'
import { createOwnServices } from '../support/own-services.ts'
import { testMasterKey } from '../support/service.ts'
import { createWorld, send } from '../support/world.ts'

/** Run by `tools/make-fixture.mjs` in a copy of the version whose fixture it makes, with that version's own samples. */
it('a database with one of each kind of thing, and what the version answers about it', async () => {
  const own = await createOwnServices()
  const { parley, url } = await own.start()
  const world = await createWorld({ parley, url })
  const ids = await furnish(world)
  const call = (id: string, method: string, path: string, mine = world, named = ids) => {
    const { as, token, body } = samples[id]?.(named) ?? {}
    return send(url, method, path, method === 'GET' ? undefined : body, {
      appid: mine.app.name,
      ...(token === undefined ? { apikey: mine.apiKey } : { authtoken: token }),
      ...(as !== undefined && { onbehalfof: as }),
    })
  }
  // What comes to be by changes is in apps of its own, so that nothing of the first one is changed or removed.
  const tally = { succeeded: 0, asked: 0 }
  for (const removes of [false, true]) {
    const other = await createWorld({ parley, url })
    const others = await furnish(other)
    for (const { operation } of routes) {
      if (operation.method === 'GET' || (operation.method === 'DELETE') !== removes) continue
      const sample = samples[operation.id]?.(others)
      const path = pathOf(operation, sample?.params) + queryOf(sample?.query)
      const { status } = await call(operation.id, operation.method, path, other, others)
      tally.asked++
      if (status === 200) tally.succeeded++
    }
  }
  expect(tally.succeeded).toBeGreaterThan(tally.asked / 2)
  expect((await sendForm(world, toBob, [picture], { as: 'alice' })).status).toBe(200)
  await offerSetup(parley.context, { email: 'root@example.com', password: 'a password of an owner' })

  const answers = []
  for (const { operation } of routes) {
    if (operation.method !== 'GET') continue
    const sample = samples[operation.id]?.(ids)
    const path = pathOf(operation, sample?.params) + queryOf(sample?.query)
    const { status, body } = await call(operation.id, 'GET', path)
    const { as, token } = sample ?? {}
    if (status === 200) answers.push({ operation: operation.id, path, as, token, body })
  }
  await own.stop()

  const rows = await own.query<{ name: string }>('select name from kysely_migration order by name')
  const tables = await own.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await own.query<{ count: number }>(`select count(*)::int as count from ${name}`)
    counts[name] = row?.count ?? 0
  }
  const { name: appId } = world.app
  const noted = { version, masterKey: testMasterKey, appId, apiKey: world.apiKey, authKey: world.authKey }
  const about = { ...noted, commit: process.env.COMMIT, migrations: rows.map(({ name }) => name), counts, answers }

  const dumped = execFileSync(
    process.env.PG_DUMP ?? 'pg_dump',
    [
      ...['--no-owner', '--no-privileges', '--no-comments', '--inserts', '--rows-per-insert=500'],
      ...['--dbname', databaseUrl(own.connection as never)],
    ],
    { encoding: 'utf8', maxBuffer: 1024 ** 3 },
  )
  // What is for psql alone.
  const sql = dumped.replace(/^\\.*\n/gm, '').replace(/^--.*\n/gm, '')
  const to = process.env.FIXTURE as string
  writeFileSync(`${to}.sql.gz`, gzipSync(sql, { level: 9 }))
  writeFileSync(`${to}.json.gz`, gzipSync(JSON.stringify(about), { level: 9 }))
  await own.close()
})
