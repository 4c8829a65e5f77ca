import '@mantine/charts/styles.css'
import { AreaChart, BarChart } from '@mantine/charts'
import { SimpleGrid, Text } from '@mantine/core'
import type { Result } from '@parley/client'

type Day = Result<'GET /stats/daily'>['days'][number]

/** Pictures of a month. In a chunk of its own: charts are large. */
export default function Days({ days }: { readonly days: readonly Day[] }) {
  const rows = days.map((day) => ({
    date: day.date.slice(5),
    Messages: day.messages_sent,
    'Active users': day.active_users,
    Delivered: day.notifications.push.delivered + day.notifications.email.delivered + day.notifications.sms.delivered,
    Failed: day.notifications.push.failed + day.notifications.email.failed + day.notifications.sms.failed,
  }))
  const common = { h: 200, data: rows, dataKey: 'date', tickLine: 'none' as const, gridAxis: 'x' as const }
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }}>
      <Picture title="Messages">
        <BarChart {...common} series={[{ name: 'Messages', color: 'indigo.6' }]} />
      </Picture>
      <Picture title="Active users">
        <AreaChart
          {...common}
          series={[{ name: 'Active users', color: 'teal.6' }]}
          curveType="monotone"
          withDots={false}
        />
      </Picture>
      <Picture title="Notifications">
        <BarChart
          {...common}
          type="stacked"
          series={[
            { name: 'Delivered', color: 'teal.6' },
            { name: 'Failed', color: 'red.6' },
          ]}
        />
      </Picture>
    </SimpleGrid>
  )
}

function Picture({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {title}
      </Text>
      {children}
    </div>
  )
}
