import { Button, Group, Stack, Text } from '@mantine/core'
import { type ComponentProps, useState } from 'react'
import { AddressInput } from './AddressInput.tsx'
import { useAddress } from './address.ts'
import { SmallTable } from './page.tsx'

/** From so many rows on there is a field to search by. */
const searchedFrom = 10
/** Rows that are drawn at once: hundreds take a browser seconds. */
const drawn = 30

/** A short table of a list that was read as a whole and may be long: it is searched, and drawn piece by piece. */
export function SearchedTable<Row>(
  props: ComponentProps<typeof SmallTable<Row>> & {
    /** What a row is found by. */
    readonly textOf: (row: Row) => string
    /** Of what is searched for, in the address. */
    readonly name: string
  },
) {
  const { textOf, name, ...table } = props
  const { label, rows } = table
  const [address] = useAddress()
  const [most, setMost] = useState(drawn)
  const wanted = address[name] ?? ''
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  const found =
    words.length === 0
      ? rows
      : rows.filter((row) => {
          const text = textOf(row).toLowerCase()
          return words.every((word) => text.includes(word))
        })
  return (
    <Stack gap="xs">
      {(rows.length > searchedFrom || wanted !== '') && (
        <AddressInput
          aria-label={`Search: ${label}`}
          placeholder="Search"
          name={name}
          onTyped={() => setMost(drawn)}
          maw={320}
        />
      )}
      <SmallTable {...table} rows={found.slice(0, most)} empty={rows.length > 0 ? 'Nothing is found.' : table.empty} />
      {found.length > most && (
        <Group>
          <Text size="sm" c="dimmed" aria-live="polite">
            {most} of {found.length}
          </Text>
          <Button size="compact-xs" variant="default" onClick={() => setMost(most + drawn)}>
            Show more
          </Button>
        </Group>
      )}
    </Stack>
  )
}
