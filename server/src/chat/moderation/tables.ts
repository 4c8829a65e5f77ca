import { erasable, untouched } from '../erasure.ts'

const ofApp = 'rules are of the app'

/** Rules name users and groups in filters, as the app wrote them. A dry run keeps who would have been met by a rule. */
export const moderationRuleTables = [
  untouched('moderation_rules', ofApp),
  untouched('moderation_rule_revisions', ofApp),
  untouched('moderation_lists', 'lists are of the app'),
  untouched('moderation_list_revisions', 'lists are of the app'),
  untouched('moderation_reasons', 'reasons are of the app'),
  untouched('moderation_dry_runs', 'it holds a rule and counts'),
  untouched('moderation_dry_run_days', 'it holds counts'),
  erasable('moderation_dry_run_senders', { uids: ['sender'] }),
  erasable('moderation_dry_run_examples', { uids: ['sender'], message: 'message' }),
]
