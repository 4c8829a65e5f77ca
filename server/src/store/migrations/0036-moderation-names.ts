import { type Kysely, sql } from 'kysely'

/** Who reviewed is forgotten without looking through all that was reviewed, and so is what nothing names any more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // a user who is removed for good is named as a reviewer no more: forgetReviewer
  `create index if not exists message_moderation_by_reviewer
    on message_moderation (app_id, lower(reviewed_by)) where reviewed_by is not null`,
  `create index if not exists moderation_reviews_by_reviewer
    on moderation_reviews (app_id, lower(reviewer)) where reviewer is not null`,
  `create index if not exists moderation_notes_by_author
    on moderation_notes (app_id, lower(author)) where author is not null`,
  'create index if not exists moderation_claims_by_name on moderation_claims (app_id, lower(reviewer))',

  // whether a decision names a revision: one that nothing names is cut, see createRevisionStore
  `create index if not exists moderation_decisions_by_list
    on moderation_decisions (app_id, list_id, list_revision) where list_id is not null`,
  // in the place of one by rule that no statement asked for, so that a hit costs no more than before
  `create index if not exists moderation_decisions_by_revision
    on moderation_decisions (app_id, rule_id, rule_revision) where rule_id is not null`,
  'drop index if exists moderation_decisions_by_rule',
]
