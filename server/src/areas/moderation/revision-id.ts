import type { App } from '../../chat/identity.ts'

/** How a revision of a rule or a list is named to clients. */
export function revisionId(app: Pick<App, 'name'>, { id, revision }: { id: string; revision: number }): string {
  return `${app.name}_${id}_${revision}`
}
