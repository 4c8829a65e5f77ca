import { type ListRow, type ListText, listColumns } from '../../../chat/moderation/lists.ts'
import { predefinedLists, shippedAt } from '../../../chat/moderation/predefined.ts'
import { createRevisionStore } from '../revisions.ts'

/** What a revision of a list says. */
export type WholeList = ListText & Pick<ListRow, 'terms' | 'count'>

/** The lists of apps, with their revisions. */
export const listStore = createRevisionStore<WholeList, ListRow>({
  table: 'moderation_lists',
  revisions: 'moderation_list_revisions',
  of: 'list_id',
  columns: listColumns,
  said: ['name', 'description', 'category', 'is_csv', 'terms', 'count', 'username', 'password_sealed'],
  valuesOf: ({ name, description, category, isCsv, terms, count, username, password }) => [
    ...[name, description, category, isCsv, terms, count, username, password],
  ],
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
