import type pg from 'pg'
import type { Transaction } from './database.ts'
import { compileFragment, type Fragment, type Statement } from './statement.ts'

/**
 * Runs a transaction on a connection that nobody else uses meanwhile; rolled back when `work` throws.
 * @param isPipelined the connection takes queries while others are under way: `begin` is not waited for
 * @param onBroken hears when not even rolling back worked: the connection is of no more use
 */
export async function runTransaction<Result>(
  client: pg.ClientBase,
  work: (tx: Transaction) => Promise<Result>,
  { isPipelined, onBroken }: { readonly isPipelined: boolean; readonly onBroken: (failure: Error) => void },
): Promise<Result> {
  const afterCommit: Array<() => void> = []
  const tx: Transaction = {
    async query<Row>(statement: Statement, values: unknown[] = []) {
      return (await client.query({ ...statement, values })).rows as Row[]
    },
    async run<Row>(fragment: Fragment<Row>) {
      const { text, values } = compileFragment(fragment)
      return (await client.query(text, values)).rows as Row[]
    },
    afterCommit: (action) => void afterCommit.push(action),
  }
  let result: Result
  try {
    const begun = client.query('begin')
    if (!isPipelined) await begun
    ;[result] = await Promise.all([work(tx), begun])
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
  } catch (error) {
    await client.query('rollback').catch(onBroken)
    throw error
  }
  for (const action of afterCommit) action()
  return result
}
