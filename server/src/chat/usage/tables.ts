import { erasable, untouched } from '../erasure.ts'

/** Whoever is removed for good has been active all the same: their number stays, and nothing says whose it was. */
export const usageTables = [
  erasable('usage_users', { uids: ['uid'] }),
  untouched('usage_apps', 'it holds a count'),
  untouched('usage_messages', 'it holds counts'),
  untouched('usage_notifications', 'it holds counts'),
  untouched('usage_rules', 'it holds counts'),
  untouched('usage_rule_days', 'it holds a day'),
  untouched('usage_sockets', 'it holds counts'),
  untouched('usage_peaks', 'it holds counts'),
  untouched('active_users', 'it holds numbers that name nobody'),
  untouched('active_user_bits', 'it holds numbers that name nobody'),
]
