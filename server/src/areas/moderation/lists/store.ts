import { type ListRow, type ListText, listColumns } from '../../../chat/moderation/lists.ts'
import { predefinedLists, shippedAt } from '../../../chat/moderation/predefined.ts'
import { createRevisionStore } from '../revisions.ts'

/** What a revision of a list says. */
export type WholeList = ListText & Pick<ListRow, 'terms' | 'count'>

/** Of each list; they may be a megabyte each. */
const keptRevisions = 50

/** Decisions, dry runs, and questions that wait for engines. */
const named = [
  `exists (
    select
    from moderation_decisions d
    where d.app_id = v.app_id
    and d.list_id = v.list_id
    and d.list_revision = v.revision
  )`,
  `exists (
    select
    from moderation_dry_runs t
    cross join lateral json_array_elements(t.definition -> 'lists') as l(list)
    where t.app_id = v.app_id
    and l.list ->> 'listId' = v.list_id
    and (l.list ->> 'revision')::int = v.revision
  )`,
  `exists (
    select
    from message_moderation k
    cross join lateral json_array_elements(k.questions) as q(question)
    where k.app_id = v.app_id
    and k.due_at is not null
    and q.question ->> 'listId' = v.list_id
    and (q.question ->> 'listRevision')::int = v.revision
  )`,
]

/** The lists of apps, with their revisions. */
export const listStore = createRevisionStore<WholeList, ListRow>({
  table: 'moderation_lists',
  revisions: 'moderation_list_revisions',
  of: 'list_id',
  columns: listColumns,
  columnsOfMany: listColumns.replace(
    'v.terms::text',
    "case v.category when 'custom-api' then v.terms::text else '[]' end",
  ),
  said: ['name', 'description', 'category', 'is_csv', 'terms', 'count', 'username', 'password_sealed'],
  valuesOf: ({ name, description, category, isCsv, terms, count, username, password }) => [
    ...[name, description, category, isCsv, terms, count, username, password],
  ],
  kept: keptRevisions,
  named,
  emptied: "terms = '[]', count = 0, username = null, password_sealed = null",
  shippedIds: () => [...predefinedLists().keys()],
  shipped: (id) => {
    const list = predefinedLists().get(id)
    if (list === undefined) return undefined
    const { name, description, category, terms } = list
    return {
      ...{ id, revision: 1, predefined: true, active: true, createdAt: shippedAt, updatedAt: shippedAt },
      ...{ name, description, category, isCsv: false, terms: JSON.stringify(terms), count: terms.length },
      ...{ username: null, password: null },
    }
  },
})
