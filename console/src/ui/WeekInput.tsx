import { Fieldset, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type Day, type DayKind, kindOf, nameOf, timeFrom, timeOf, type Week, weekdays } from './week.ts'

const kinds: readonly { readonly value: DayKind; readonly label: string }[] = [
  { value: 'always', label: 'at any time' },
  { value: 'between', label: 'only between' },
  { value: 'never', label: 'not at all' },
]

/** Of each day of the week, when somebody is notified. */
export function WeekInput(props: {
  readonly label: string
  readonly hint?: string | undefined
  readonly value: Week
  readonly onChange: (value: Week) => void
}) {
  const { label, hint, value, onChange } = props
  return (
    <Fieldset legend={label}>
      <Stack gap="xs">
        {hint !== undefined && (
          <Text size="xs" c="dimmed">
            {hint}
          </Text>
        )}
        {weekdays.map((name) => (
          <DayInput
            key={name}
            name={nameOf(name)}
            day={value[name]}
            onChange={(day) => onChange({ ...value, [name]: day })}
          />
        ))}
      </Stack>
    </Fieldset>
  )
}

function DayInput({
  name,
  day,
  onChange,
}: {
  readonly name: string
  readonly day: Day
  readonly onChange: (day: Day) => void
}) {
  // Kept here: a day that is typed as the whole of it stays as it is being typed.
  const [kind, setKind] = useState(() => kindOf(day))
  const choose = (next: DayKind) => {
    setKind(next)
    if (next === 'between') return onChange({ from: 900, to: 1800, dnd: false })
    onChange({ from: 0, to: 2359, dnd: next === 'never' })
  }
  const time = (end: 'from' | 'to', label: string) => (
    <TextInput
      type="time"
      aria-label={`${name}: ${label}`}
      required
      value={timeOf(day[end])}
      onChange={(event) => {
        const typed = timeFrom(event.currentTarget.value)
        if (typed !== undefined) onChange({ ...day, [end]: typed })
      }}
    />
  )
  return (
    <Group gap="xs">
      <Text size="sm" w="6.5rem">
        {name}
      </Text>
      <Select
        aria-label={`${name}: when`}
        data={kinds}
        value={kind}
        allowDeselect={false}
        onChange={(next) => next !== null && choose(next as DayKind)}
        w="9rem"
      />
      {kind === 'between' && (
        <>
          {time('from', 'from')}
          <Text size="sm">and</Text>
          {time('to', 'until')}
        </>
      )}
    </Group>
  )
}
