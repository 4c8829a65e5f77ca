import { Code, SimpleGrid, Stack, Text } from '@mantine/core'
import { Section } from './page.tsx'

/** Something that has revisions, as far as it is compared. */
export type Compared = object

const memberOf = (one: Compared, name: string) => (one as Readonly<Record<string, unknown>>)[name]

/** Names of what is otherwise in two revisions. */
export function differencesOf(one: Compared, other: Compared, names: readonly string[]): string[] {
  return names.filter(
    (name) => JSON.stringify(memberOf(one, name) ?? null) !== JSON.stringify(memberOf(other, name) ?? null),
  )
}

/** How two revisions differ, one beside the other. */
export function Compare(props: {
  readonly title: string
  readonly then: Compared
  readonly now: Compared
  /** What is compared, and what it is called. */
  readonly names: Readonly<Record<string, string>>
}) {
  const { title, then, now, names } = props
  const differences = differencesOf(then, now, Object.keys(names))
  return (
    <Section title={title}>
      {differences.length === 0 && <Text size="sm">There is no difference.</Text>}
      {differences.map((name) => (
        <Difference key={name} label={names[name] ?? name} then={memberOf(then, name)} now={memberOf(now, name)} />
      ))}
    </Section>
  )
}

function Difference({ label, then, now }: { readonly label: string; readonly then: unknown; readonly now: unknown }) {
  const isList = [then, now].every((value) => value === undefined || isTexts(value))
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {label}
      </Text>
      {isList ? (
        <Lines then={(then ?? []) as string[]} now={(now ?? []) as string[]} />
      ) : (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
          <Value label="Then" value={then} />
          <Value label="Now" value={now} />
        </SimpleGrid>
      )}
    </Stack>
  )
}

const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string')

function Value({ label, value }: { readonly label: string; readonly value: unknown }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Code block className="code">
        {value === undefined || value === null || value === ''
          ? 'nothing'
          : typeof value === 'string'
            ? value
            : JSON.stringify(value, null, 2)}
      </Code>
    </div>
  )
}

const mostLines = 500

/** Of two lists what was added and what was taken away: they may be very long. */
function Lines({ then, now }: { readonly then: readonly string[]; readonly now: readonly string[] }) {
  const [before, after] = [new Set(then), new Set(now)]
  const added = now.filter((line) => !before.has(line))
  const removed = then.filter((line) => !after.has(line))
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
      <Part label={`Taken away since: ${removed.length}`} lines={removed} />
      <Part label={`Added since: ${added.length}`} lines={added} />
    </SimpleGrid>
  )
}

function Part({ label, lines }: { readonly label: string; readonly lines: readonly string[] }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      {lines.length > 0 && (
        <Code block className="code">
          {lines.slice(0, mostLines).join('\n')}
          {lines.length > mostLines && `\n… ${lines.length - mostLines} more`}
        </Code>
      )}
    </div>
  )
}
