import { Group, SimpleGrid, Text } from '@mantine/core'
import type { Result } from '@parley/client'

type Day = Result<'GET /stats/daily'>['days'][number]

interface Series {
  readonly name: string
  readonly color: string
  readonly values: readonly number[]
}

const number = new Intl.NumberFormat()
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

/**
 * Pictures of a month. Bars of HTML: a library of charts took longer to draw them than all else on
 * the page together.
 */
export function Days({ days }: { readonly days: readonly Day[] }) {
  const dates = days.map(({ date }) => date)
  const sent = (outcome: 'delivered' | 'failed') =>
    days.map(({ notifications: { push, email, sms } }) => push[outcome] + email[outcome] + sms[outcome])
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }}>
      <Bars
        title="Messages"
        dates={dates}
        series={[{ name: 'Messages', color: 'indigo', values: days.map((day) => day.messages_sent) }]}
      />
      <Bars
        title="Active users"
        dates={dates}
        series={[{ name: 'Active users', color: 'teal', values: days.map((day) => day.active_users) }]}
      />
      <Bars
        title="Notifications"
        dates={dates}
        series={[
          { name: 'Delivered', color: 'teal', values: sent('delivered') },
          { name: 'Failed', color: 'red', values: sent('failed') },
        ]}
      />
    </SimpleGrid>
  )
}

/** A bar for each day, of one part for each series. */
function Bars(props: {
  readonly title: string
  readonly dates: readonly string[]
  readonly series: readonly Series[]
}) {
  const { title, dates, series } = props
  const top = roundUp(Math.max(...dates.map((_, at) => sum(series.map(({ values }) => values[at] ?? 0)))))
  const said = (at: number) => series.map(({ name, values }) => `${name}: ${number.format(values[at] ?? 0)}`).join(', ')
  const inAll = series.map(({ name, values }) => `${name}: ${number.format(sum(values))} in all`).join(', ')
  const [first = '', last = ''] = [dates[0], dates.at(-1)]
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={500}>
          {title}
        </Text>
        {series.length > 1 && (
          <Group gap="xs">
            {series.map(({ name, color }) => (
              <Text key={name} size="xs" c="dimmed">
                <span className="bars-key" style={{ background: colorOf(color) }} /> {name}
              </Text>
            ))}
          </Group>
        )}
      </Group>
      <div className="bars" role="img" aria-label={`${title} by day, ${first} to ${last}. ${inAll}.`}>
        <div className="bars-scale">
          <span>{number.format(top)}</span>
          <span>0</span>
        </div>
        <div className="bars-days">
          {dates.map((date, at) => (
            <div key={date} title={`${date}: ${said(at)}`}>
              {series.map(({ name, color, values }) => (
                <div key={name} style={{ height: `${(100 * (values[at] ?? 0)) / top}%`, background: colorOf(color) }} />
              ))}
            </div>
          ))}
        </div>
        <div className="bars-dates">
          {[first, dates[dates.length >> 1] ?? '', last].map((date) => (
            <span key={date}>{date.slice(5)}</span>
          ))}
        </div>
      </div>
    </div>
  )
}

const colorOf = (name: string) => `var(--mantine-color-${name}-6)`

/** The next of 1, 2, 5, 10, 20, 50, ... */
function roundUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)))
  return (([1, 2, 5].find((times) => times * power >= most) ?? 10) as number) * power
}
