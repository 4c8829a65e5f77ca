import * as contract from '@parley/contract'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** What is no thing of its own. */
const unnamed = /(Params|Query)$/

/** The schemas that the contract exports, by their text: what is written alike is the same thing. */
function namesByText(): Map<string, string> {
  const names = new Map<string, string>()
  for (const [name, schema] of Object.entries(contract)) {
    if (!isObjectSchema(schema) || unnamed.test(name)) continue
    const text = JSON.stringify(schema)
    if (!names.has(text)) names.set(text, name === 'ErrorBodySchema' ? 'Error' : name)
  }
  return names
}

function isObjectSchema(value: unknown): value is { readonly properties: object } {
  if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'object') return false
  return 'properties' in value && Object.keys(value.properties as object).length > 0
}

/** Of any name, as TypeBox writes it. */
const anyName = '^.*$'

/**
 * The same schema in words that generators read as it is meant: members of any name are `additionalProperties`, and a default stands
 * in the description, since a property with one is taken for one that is always there.
 */
function forGenerators(schema: { readonly [key: string]: Json }): { readonly [key: string]: Json } {
  const { patternProperties, properties, ...others } = schema
  if (isMap(patternProperties) && anyName in patternProperties) {
    return {
      ...others,
      ...(properties !== undefined && { properties }),
      additionalProperties: patternProperties[anyName] ?? true,
    }
  }
  if (schema.type !== 'object' || !isMap(properties)) return schema
  const plain = Object.entries(properties).map(([name, property]) => [name, withoutDefault(property)])
  return { ...schema, properties: Object.fromEntries(plain) }
}

function withoutDefault(property: Json): Json {
  if (!isMap(property) || property.default === undefined) return property
  const { default: value, description, ...others } = property
  const said = `\`${JSON.stringify(value).replaceAll('"', '')}\` by default`
  return { ...others, description: description === undefined ? said : `${description as string}; ${said}` }
}

function isMap(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The same document with the schemas of the contract once each, under `components.schemas`, by the names that they have there. So
 * generators make one type of each, and the reference page shows its name.
 */
export function nameSchemas(document: object): object {
  const names = namesByText()
  const used = new Map<string, Json>()

  const refer = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value
    const name = isObjectSchema(value) ? names.get(JSON.stringify(value)) : undefined
    if (name === undefined) return inside(value)
    if (!used.has(name)) {
      // First, since a schema may stand within itself.
      used.set(name, null)
      used.set(name, inside(value))
    }
    return { $ref: `#/components/schemas/${name}` }
  }
  const inside = (value: object): Json => {
    if (Array.isArray(value)) return value.map(refer)
    const plain = forGenerators(value as { readonly [key: string]: Json })
    return Object.fromEntries(Object.entries(plain).map(([key, one]) => [key, refer(one)]))
  }

  // As text first: schemas carry members that are no part of them.
  const { components, ...rest } = JSON.parse(JSON.stringify(document)) as { components: { [key: string]: Json } }
  const referring = inside(rest) as { [key: string]: Json }
  const schemas = Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...referring, components: { ...components, schemas: { ...(components.schemas as object), ...schemas } } }
}
