import { type Kysely, sql } from 'kysely'

/** Operators who sign in by OpenID Connect. Like those of 0039, these tables are of the deployment, and of no app. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // whom the provider knows the operator as: one identity for an operator, and one operator for an identity
  `create table if not exists operator_identities (
    operator_id integer primary key,
    issuer text not null,
    subject text collate "C" not null,
    created_at bigint not null,
    unique (issuer, subject)
  )`,
  // sign-ins that have begun; of the state and of the browser's cookie only digests are kept. operator_id: of a link
  `create table if not exists operator_sign_ins (
    sign_in_id bigint primary key generated always as identity,
    state bytea not null unique,
    browser bytea not null,
    redirect_uri text not null,
    return_to text,
    operator_id integer,
    client text,
    expires_at bigint not null
  )`,
]
