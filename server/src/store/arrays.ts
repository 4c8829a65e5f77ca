/**
 * The text of a PostgreSQL array of numbers or booleans. The driver's own serialization quotes and escapes each value,
 * which costs more than all else that is done for a row.
 */
export function plainArray(values: ReadonlyArray<number | boolean | null>): string {
  let text = '{'
  for (let i = 0; i < values.length; i++) text += i === 0 ? (values[i] ?? 'NULL') : `,${values[i] ?? 'NULL'}`
  return `${text}}`
}
