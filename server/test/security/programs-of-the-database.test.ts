import { sql } from 'kysely'
import { expect } from 'vitest'
import { itWith } from '../gate/needs.ts'
import { createWorld } from '../support/world.ts'

const onEmbedded = {
  isMet: (process.env.TEST_DATABASE_URL ?? '') === '',
  otherwise: 'only on the embedded database',
  inGate: false,
}

/** Whoever finds one place where SQL can be slipped in has what the role of the service has. */
itWith(onEmbedded, 'No SQL that the service runs starts a program or reads a file', async () => {
  const { database } = (await createWorld()).context
  for (const text of [
    `copy (select 1) to program 'id'`,
    `copy pg_class to '/tmp/parley-stolen'`,
    `select pg_read_file('/etc/passwd')`,
    `select lo_import('/etc/passwd')`,
    `alter role current_user superuser`,
    `set role parley`,
  ]) {
    await expect(database.run(sql.raw(text)), text).rejects.toThrow(/permission denied|must be superuser|Only roles/)
  }
})
