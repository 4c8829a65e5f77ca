import { Alert, Stack, Text } from '@mantine/core'
import type { MoveIn } from '../ui/move-in.ts'
import { Facts, Section, SmallTable, Status, Time } from '../ui/page.tsx'

const mostRows = 200

/** How a move from a hosted service stands, by what it has left in its folder. */
export function MoveInReport({ of: { report, comparison, progress } }: { readonly of: MoveIn }) {
  return (
    <Stack>
      {progress !== undefined && report === undefined && <Progress of={progress} />}
      {report !== undefined && <Report of={report} />}
      {comparison !== undefined && <Comparison of={comparison} />}
    </Stack>
  )
}

function Progress({ of: { state } }: { readonly of: NonNullable<MoveIn['progress']> }) {
  const { counts = {}, done = [], followed, cutOver } = state ?? {}
  return (
    <Section title="A move that goes on">
      <Facts
        facts={{
          'Lists read to their end': done.length,
          'Changes followed until': followed && <Time at={followed} />,
          'Cut over': cutOver && <Time at={cutOver} />,
        }}
      />
      <Counts label="Read so far" counts={counts} />
    </Section>
  )
}

function Counts({ label, counts }: { readonly label: string; readonly counts: Readonly<Record<string, unknown>> }) {
  return (
    <SmallTable
      label={label}
      rows={Object.entries(counts)}
      idOf={([name]) => name}
      empty="Nothing was read yet."
      columns={[
        { label, cell: ([name]) => name },
        { label: 'How many', cell: ([, count]) => String(count) },
      ]}
    />
  )
}

function Report({
  of: { from, into, read = {}, settled = {}, notices = [], notOverRest = [] },
}: {
  readonly of: NonNullable<MoveIn['report']>
}) {
  return (
    <Section title="Move from a hosted service">
      <Facts facts={{ From: from, Into: into ?? 'a folder' }} />
      <Counts label="Read" counts={read} />
      {Object.keys(settled).length > 0 && <Counts label="Set" counts={settled} />}
      <SmallTable
        label="What was changed or skipped"
        rows={notices}
        idOf={({ code }) => code}
        empty="Nothing was changed or skipped."
        columns={[
          { label: 'Outcome', cell: ({ outcome }) => <Status of={outcome} /> },
          { label: 'Why', cell: ({ code, what }) => what ?? code },
          { label: 'How many', cell: ({ count }) => count },
          { label: 'Such as', cell: ({ examples = [] }) => examples.slice(0, 3).join(', ') },
        ]}
      />
      {notOverRest.length > 0 && (
        <Text size="sm" c="dimmed">
          Not to be had over REST: {notOverRest.join('; ')}
        </Text>
      )}
    </Section>
  )
}

function Comparison({ of }: { readonly of: NonNullable<MoveIn['comparison']> }) {
  const { old, new: target, at, isEqual, compared = [], differences = 0, named = [] } = of
  const differing = compared.filter((row) => !row.isEqual)
  return (
    <Section title="Verification of the move">
      <Alert color={isEqual ? 'teal' : 'red'} role="status">
        {isEqual ? `Both sides are equal in all ${compared.length} parts.` : `${differences} differences.`}
      </Alert>
      <Facts facts={{ Old: old, New: target, At: at }} />
      <SmallTable
        label="Parts that differ"
        rows={differing.slice(0, mostRows)}
        idOf={({ name }) => name}
        empty="No part differs."
        columns={[
          { label: 'Part', cell: ({ name }) => name },
          { label: 'Old', cell: ({ source }) => source },
          { label: 'New', cell: (row) => row.target },
        ]}
      />
      {named.length > 0 && (
        <SmallTable
          label="Differences"
          rows={named.slice(0, mostRows).map((one, place) => ({ ...one, place }))}
          idOf={({ place }) => String(place)}
          empty=""
          columns={[
            { label: 'Where', cell: ({ where }) => where },
            { label: 'What', cell: ({ what }) => what },
            { label: 'In', cell: ({ fields }) => fields?.join(', ') },
          ]}
        />
      )}
      {(differing.length > mostRows || named.length > mostRows) && (
        <Text size="sm" c="dimmed">
          The first {mostRows} of each. verify.json has more.
        </Text>
      )}
    </Section>
  )
}
