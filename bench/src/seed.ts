import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { scaleWorld } from './seed/sizes.ts'
import { seedWorld } from './seed/world.ts'

const usage = `npm run bench:seed -- [options]
Fills an app without users with a million messages, 100,000 users and 300,000 conversations, straight into the database
of DATABASE_URL, else that of the service that runs on DATA_DIR (data/ without it).
  --scale <factor>   so many times as large; 1 without it
  --app <name>       the app, which must be there; parley without it`

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    app: { type: 'string', default: 'parley' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(usage)
else await seed(Number(options.scale), options.app)

async function seed(scale: number, name: string): Promise<void> {
  if (!(scale > 0)) throw new Error(`--scale ${options.scale} is no factor`)
  const client = new pg.Client({ connectionString: findDatabase() })
  await client.connect()
  try {
    const appId = await requireEmptyApp(client, name)
    const startedAt = performance.now()
    await seedWorld(client, appId, scaleWorld(scale), { progress: (step) => console.error(step) })
    console.log(`The app ${name} is filled, after ${Math.round((performance.now() - startedAt) / 1000)} s.`)
    console.log('`busy` is the user who takes part in most. `npm run doctor` tells whether all is as it should be.')
  } finally {
    await client.end()
  }
}

function findDatabase(): string {
  const { DATABASE_URL: url, DATA_DIR: folder = 'data' } = process.env
  if (url !== undefined && url !== '') return url
  return readFileSync(join(folder, 'database-url'), 'utf8').trim()
}

/** Ids of users and groups must be free, so it is only done where nobody is. */
async function requireEmptyApp(client: pg.Client, name: string): Promise<number> {
  const { rows } = await client.query<{ app_id: number; users: string }>(
    `select a.app_id, (select count(*) from users u where u.app_id = a.app_id and u.uid <> 'app_system') as users
    from apps a
    where a.name = $1`,
    [name],
  )
  const [app] = rows
  if (app === undefined) throw new Error(`There is no app ${name} in this database.`)
  if (Number(app.users) > 0) throw new Error(`The app ${name} has users: only an app without any is filled.`)
  return app.app_id
}
