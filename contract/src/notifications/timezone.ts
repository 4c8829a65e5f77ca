/** Whether a text names a time zone that this runtime knows, such as `Europe/Oslo`. Offsets are no names. */
export function isTimezone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}
