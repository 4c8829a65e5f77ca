import {
  badRequest,
  defaultTemplates,
  type ErrorDetail,
  limits,
  type NotificationSettingsIn,
  type UserPreferencesIn,
  weekdays,
} from '@parley/contract'
import { findUnclosed } from '../../chat/notifications/template.ts'

/** @throws 400 naming what a schema cannot say: minutes beyond 59, placeholders that do not end, subjects of several lines, extras that are too large */
export function checkSettings({
  preferences,
  templates,
}: Pick<NotificationSettingsIn, 'preferences' | 'templates'>): void {
  const path = 'body/preferences/mute/schedulePreferenceSetting'
  const flaws = [...flawsOfSchedule(preferences?.mute?.schedulePreferenceSetting, path), ...flawsOfTemplates(templates)]
  const custom = preferences?.push?.customJson
  if (custom !== undefined && Buffer.byteLength(JSON.stringify(custom)) > limits.notifications.customJsonBytes) {
    const message = `must be at most ${limits.notifications.customJsonBytes} bytes of JSON`
    flaws.push({ path: 'body/preferences/push/customJson', message })
  }
  if (flaws.length > 0) throw badRequest(flaws)
}

/** @throws 400 for a schedule with minutes beyond 59 */
export function checkPreferences({ mutePreferences }: UserPreferencesIn): void {
  const flaws = flawsOfSchedule(mutePreferences?.schedule, 'body/mutePreferences/schedule')
  if (flaws.length > 0) throw badRequest(flaws)
}

type ScheduleIn = NonNullable<NonNullable<UserPreferencesIn['mutePreferences']>['schedule']>

function flawsOfSchedule(schedule: ScheduleIn | undefined, path: string): ErrorDetail[] {
  return weekdays.flatMap((day) => {
    const { from, to } = schedule?.[day] ?? {}
    return Object.entries({ from, to }).flatMap(([end, time]) =>
      time === undefined || time % 100 < 60
        ? []
        : [{ path: `${path}/${day}/${end}`, message: 'must be a time as HHMM' }],
    )
  })
}

/** Members that no schema names may be anything, of any length; they are not kept either. */
function flawsOfTemplates(templates: NotificationSettingsIn['templates'] = {}): ErrorDetail[] {
  return Object.entries(defaultTemplates).flatMap(([name, declared]) => {
    const members = (templates as Partial<Record<string, unknown>>)[name]
    if (typeof declared !== 'object' || typeof members !== 'object' || members === null) return []
    return Object.keys(declared).flatMap((member) => {
      const path = `body/templates/${name}/${member}`
      const text = (members as Partial<Record<string, unknown>>)[member]
      if (typeof text !== 'string') return []
      if (findUnclosed(text)) return [{ path, message: 'has {{ without }}' }]
      const isHeader = name.startsWith('emailSubject')
      return isHeader && /[\p{Cc}\u2028\u2029]/u.test(text) ? [{ path, message: 'must be one line' }] : []
    })
  })
}
