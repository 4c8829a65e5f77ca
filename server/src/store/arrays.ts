/**
 * The text of a PostgreSQL array of numbers or booleans. The driver's own serialization quotes and escapes each value,
 * which costs more than all else that is done for a row.
 */
export function plainArray(values: ReadonlyArray<number | boolean | null>): string {
  let text = '{'
  for (let i = 0; i < values.length; i++) text += i === 0 ? (values[i] ?? 'NULL') : `,${values[i] ?? 'NULL'}`
  return `${text}}`
}

const special = /["\\]/

/**
 * The text of a PostgreSQL array of texts: as a parameter, or as an element of another one, for where each row of an
 * unnested parameter has an array of its own. That column is a parameter of type `text[]`, cast row by row.
 */
export function textArray(values: ReadonlyArray<string | null>): string {
  const items = values.map((value) => {
    if (value === null) return 'NULL'
    return special.test(value) ? `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : `"${value}"`
  })
  return `{${items.join()}}`
}
