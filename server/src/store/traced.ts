import { ended, type Span } from '../tracing/tracing.ts'
import type { Channel } from './channel.ts'
import type { Database, Queryable, Transaction } from './database.ts'
import { compileFragment, type Fragment, type Statement } from './statement.ts'

/** Whatever answers queries, with a part of the work for each statement. */
interface Asked extends Queryable {
  affect?: Transaction['affect']
}

/** The same database; what is asked of it is traced as parts of a piece of work: until it was answered, waiting included. */
export function tracedDatabase(database: Database, span: Span): Database {
  const traced =
    (transaction: Database['transaction']): Database['transaction'] =>
    (work) => {
      const part = span.child('transaction', { kind: 'client', attributes: { 'db.system.name': 'postgresql' } })
      return ended(part, () =>
        transaction((tx) => work({ ...tx, ...tracedQueries(tx, part), affect: tracedAffect(tx, part) })),
      )
    }
  return {
    ...database,
    ...tracedQueries(database, span),
    readAs: (reader) => tracedDatabase(database.readAs(reader), span),
    transaction: traced(database.transaction),
    longTransaction: traced(database.longTransaction),
  }
}

/** The same connection of a writer, whose transactions are traced as a whole: their statements are answered at once. */
export function tracedChannel(channel: Channel, span: Span): Channel {
  return {
    ...channel,
    transaction(queries) {
      const attributes = { 'db.system.name': 'postgresql', 'db.operation.batch.size': queries.length }
      return ended(span.child('transaction', { kind: 'client', attributes }), () => channel.transaction(queries))
    },
  }
}

function tracedQueries(asked: Asked, span: Span): Queryable {
  return {
    query: <Row>(statement: Statement, values?: unknown[]) =>
      ended(part(span, statement.text), () => asked.query<Row>(statement, values)),
    run: <Row>(fragment: Fragment<Row>) =>
      ended(part(span, compileFragment(fragment).text), () => asked.run<Row>(fragment)),
  }
}

function tracedAffect(tx: Transaction, span: Span): Transaction['affect'] {
  return (fragment) => ended(part(span, compileFragment(fragment).text), () => tx.affect(fragment))
}

/** Texts have places for values and no values, so nothing of anybody's is in them. */
function part(span: Span, text: string): Span {
  const summary = summaryOf(text)
  const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary, 'db.query.text': text.trim() }
  return span.child(summary, { kind: 'client', attributes })
}

/** Such as `select users`: the first thing that a text does, and to what. */
function summaryOf(text: string): string {
  const [, verb = 'query'] = /\b(select|insert|update|delete|lock)\b/i.exec(text) ?? []
  const [, table] = /\b(?:from|into|update|join|table)\s+([a-z_][\w.]*)/i.exec(text) ?? []
  return table === undefined ? verb.toLowerCase() : `${verb.toLowerCase()} ${table}`
}
