import { Anchor, Badge, Box, Code, Group, Stack, Table, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { type Column, shownOf } from './columns.ts'

/** A page of the console: its title, what can be done with the whole of it, and the rest. */
export function Page(props: {
  readonly title: string
  readonly hint?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  const { title, hint, actions, children } = props
  useEffect(() => {
    document.title = `${title} · Parley console`
  }, [title])
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start">
        <Box>
          <Title order={1} size="h3">
            {title}
          </Title>
          {hint !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              {hint}
            </Text>
          )}
        </Box>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </Stack>
  )
}

/** A part of a page, under a heading of its own. */
export function Section(props: { readonly title: string; readonly actions?: ReactNode; readonly children: ReactNode }) {
  return (
    <Stack gap="xs" component="section">
      <Group justify="space-between">
        <Title order={2} size="h5">
          {props.title}
        </Title>
        <Group gap="xs">{props.actions}</Group>
      </Group>
      {props.children}
    </Stack>
  )
}

/** Names and what they are; what is undefined is left out. */
export function Facts({ facts }: { readonly facts: Readonly<Record<string, ReactNode>> }) {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return (
    <Table withRowBorders={false} verticalSpacing={4} layout="fixed">
      <Table.Tbody>
        {known.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w="12rem" fw={500} c="dimmed" ta="left" style={{ verticalAlign: 'top' }}>
              {name}
            </Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** A short table that is drawn as a whole. */
export function SmallTable<Row>(props: {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  readonly empty: string
}) {
  const { label, rows, idOf, empty } = props
  const columns = shownOf(props.columns)
  if (rows.length === 0)
    return (
      <Text c="dimmed" size="sm">
        {empty}
      </Text>
    )
  return (
    <Table.ScrollContainer minWidth={480} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={label} verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.label}>{column.label}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={idOf(row)}>
              {columns.map((column) => (
                <Table.Td key={column.label}>{column.cell(row)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** @param at epoch seconds */
export function Time({ at }: { readonly at: number | undefined | null }) {
  if (at === undefined || at === null || at === 0)
    return (
      <Text span c="dimmed" size="sm">
        never
      </Text>
    )
  const date = new Date(at * 1000)
  return (
    <time dateTime={date.toISOString()} title={date.toString()}>
      {short.format(date)}
    </time>
  )
}

/** Anything, as indented JSON. Text only: nothing of it is taken for markup. */
export function Json({ value }: { readonly value: unknown }) {
  return (
    <Code block className="code">
      {JSON.stringify(value, null, 2)}
    </Code>
  )
}

const colors: Readonly<Record<string, string>> = {
  ok: 'teal',
  delivered: 'teal',
  online: 'teal',
  available: 'teal',
  active: 'teal',
  on: 'teal',
  enabled: 'teal',
  approved: 'teal',
  sent: 'teal',
  pending: 'yellow',
  shadow: 'yellow',
  held: 'yellow',
  waiting: 'yellow',
  paused: 'yellow',
  deleted: 'red',
  'being removed': 'red',
  delayed: 'yellow',
  warning: 'yellow',
  running: 'blue',
  done: 'teal',
  failed: 'red',
  failing: 'red',
  blocked: 'red',
  banned: 'red',
  disabled: 'red',
  rejected: 'red',
  disapproved: 'red',
  deactivated: 'red',
  expired: 'red',
}

/** One word for how it stands. */
export function Status({ of }: { readonly of: string | undefined }) {
  if (of === undefined) return null
  return (
    <Badge variant="light" color={colors[of.toLowerCase()] ?? 'gray'} tt="none" miw="max-content">
      {of}
    </Badge>
  )
}

export { Anchor }
