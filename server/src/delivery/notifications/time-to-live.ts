import type { Channel } from '@parley/contract'

const hourMs = 3_600_000
/** What could not be sent for so long is not sent any more. What is still unread the next day is worth a mail. */
export const timeToLiveMs: Readonly<Record<Channel, number>> = { push: hourMs, sms: 4 * hourMs, email: 24 * hourMs }
