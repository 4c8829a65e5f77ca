import type { ConsolePage } from './timing.ts'

const rows = 'main [role="row"] [role="cell"]'

/** Pages that read much, on a seeded world; `busy` is the user who takes part in most. */
export function pagesOf(app: string): readonly ConsolePage[] {
  const base = `/apps/${app}`
  return [
    { name: 'Overview', path: base, shows: 'main .recharts-surface' },
    { name: 'Users', path: `${base}/users`, shows: rows, atLeast: 20 },
    { name: 'Users, searched', path: `${base}/users?q=busy`, shows: rows },
    { name: 'A user', path: `${base}/users/busy`, shows: 'main h1' },
    { name: 'Groups of a user in 2,000', path: `${base}/users/busy?tab=groups`, shows: rows, atLeast: 20 },
    {
      name: 'Conversations of a user in 5,000',
      path: `${base}/users/busy?tab=conversations`,
      shows: rows,
      atLeast: 20,
    },
    { name: 'Groups', path: `${base}/groups`, shows: rows, atLeast: 20 },
    { name: 'A group of 10,000', path: `${base}/groups/crowd`, shows: rows, atLeast: 20 },
    { name: 'Messages', path: `${base}/messages`, shows: rows, atLeast: 20 },
    { name: 'A conversation of a group', path: `${base}/conversations/group_crowd`, shows: 'main article' },
    { name: 'Moderation', path: `${base}/moderation`, shows: 'main h1' },
    { name: 'Notifications', path: `${base}/notifications`, shows: 'main h1' },
    { name: 'Webhooks', path: `${base}/webhooks`, shows: 'main h1' },
    { name: 'Roles', path: `${base}/roles`, shows: 'main h1' },
    { name: 'Settings', path: `${base}/settings`, shows: 'main form' },
    { name: 'Audit log', path: `${base}/audit-log`, shows: rows },
    { name: 'Apps, of 3,000', path: '/apps', shows: 'main table tr', atLeast: 20 },
    { name: 'Health', path: '/health', shows: 'main table' },
  ]
}
