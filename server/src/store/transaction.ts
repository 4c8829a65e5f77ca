import type pg from 'pg'
import { isOfAborted } from './connection.ts'
import type { Transaction } from './database.ts'
import { noteDoubt } from './doubt.ts'
import { compileFragment, type Fragment, type Statement } from './statement.ts'

/**
 * Runs a transaction on a connection that nobody else uses meanwhile; rolled back when `work` throws.
 * @param isPipelined the connection takes queries while others are under way: `begin` is not waited for
 * @param begin what it begins with
 * @param onBroken hears when not even rolling back worked: the connection is of no more use
 */
export async function runTransaction<Result>(
  client: pg.ClientBase,
  work: (tx: Transaction) => Promise<Result>,
  {
    isPipelined,
    onBroken,
    begin = 'begin',
  }: { readonly isPipelined: boolean; readonly onBroken: (failure: Error) => void; readonly begin?: string },
): Promise<Result> {
  const afterCommit: Array<() => void> = []
  const afterFailure: Array<() => void> = []
  const ask = isPipelined ? (query: pg.QueryConfig) => client.query(query) : oneAfterTheOther(client)
  let isOver = false
  let isCommitting = false
  let firstFailure: unknown
  const askWithin = async (query: pg.QueryConfig) => {
    // Whoever goes on asking when another part of the work has failed would change things outside of any transaction.
    if (isOver) throw new Error('The transaction is over.')
    try {
      return await ask(query)
    } catch (error) {
      firstFailure ??= error
      throw error
    }
  }
  const tx: Transaction = {
    async query<Row>(statement: Statement, values: unknown[] = []) {
      return (await askWithin({ ...statement, values })).rows as Row[]
    },
    async run<Row>(fragment: Fragment<Row>) {
      const { text, values } = compileFragment(fragment)
      return (await askWithin({ text, values })).rows as Row[]
    },
    async affect(fragment) {
      const { text, values } = compileFragment(fragment)
      const { command, rowCount } = await askWithin({ text, values })
      return { command, rows: rowCount ?? 0 }
    },
    afterCommit: (action) => void afterCommit.push(action),
    afterFailure: (action) => void afterFailure.push(action),
  }
  let result: Result
  try {
    const begun = ask({ text: begin })
    if (!isPipelined) await begun
    ;[result] = await Promise.all([work(tx), begun])
    isOver = true
    isCommitting = true
    const { command } = await ask({ text: 'commit' })
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
  } catch (error) {
    isOver = true
    if (isCommitting && afterCommit.length > 0) noteDoubt(error)
    await ask({ text: 'rollback' }).catch(onBroken)
    for (const action of afterFailure) action()
    // Of what was under way together, what came after the one that failed may be heard of first. It does not say why.
    throw isOfAborted(error) ? firstFailure : error
  }
  for (const action of afterCommit) action()
  return result
}

/** Asks a connection that takes one query at a time: each waits for those before it, whether they fail or not. */
function oneAfterTheOther(client: pg.ClientBase) {
  let last: Promise<unknown> = Promise.resolve()
  return (query: pg.QueryConfig): Promise<pg.QueryResult> => {
    const answered = last.then(() => client.query(query))
    last = answered.catch(() => {})
    return answered
  }
}
