import type { ConsolePage } from './timing.ts'

const rows = 'main [role="row"] [role="cell"]'

/** Pages that read much, on a seeded world; `busy` is the user who takes part in most. */
export function pagesOf(app: string): readonly ConsolePage[] {
  const base = `/apps/${app}`
  return [
    { name: 'Overview', path: base, shows: 'main .bars' },
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
    { name: 'Sessions of a user', path: `${base}/users/busy?tab=sessions`, shows: 'main section' },
    { name: 'History of a user', path: `${base}/users/busy?tab=history`, shows: 'main [role="tabpanel"]' },
    { name: 'Data of a user', path: `${base}/users/busy?tab=data`, shows: 'main section' },
    { name: 'Moderation', path: `${base}/moderation`, shows: 'main h1' },
    { name: 'Moderation, decided', path: `${base}/moderation?tab=reviewed`, shows: 'main h1' },
    { name: 'Moderation, rules', path: `${base}/moderation?tab=rules`, shows: 'main h1' },
    { name: 'A rule', path: `${base}/moderation/rules/text-profanity-filter`, shows: 'main h1' },
    { name: 'Moderation, lists', path: `${base}/moderation?tab=lists`, shows: 'main table' },
    { name: 'Notifications', path: `${base}/notifications`, shows: 'main h1' },
    { name: 'Notifications, providers', path: `${base}/notifications?tab=providers`, shows: 'main h1' },
    { name: 'Notifications, preferences', path: `${base}/notifications?tab=preferences`, shows: 'main h1' },
    { name: 'Notifications, templates', path: `${base}/notifications?tab=templates`, shows: 'main h1' },
    { name: 'Webhooks', path: `${base}/webhooks`, shows: 'main h1' },
    { name: 'Events', path: `${base}/events`, shows: 'main h1' },
    { name: 'Roles', path: `${base}/roles`, shows: 'main table' },
    { name: 'Import and export', path: `${base}/import`, shows: 'main h1' },
    { name: 'Settings', path: `${base}/settings`, shows: 'main form' },
    { name: 'API keys', path: `${base}/keys`, shows: rows },
    { name: 'Audit log', path: `${base}/audit-log`, shows: rows },
    { name: 'Apps, of 3,000', path: '/apps', shows: rows, atLeast: 20 },
    { name: 'Health', path: '/health', shows: 'main table' },
    { name: 'Operators, of 300', path: '/operators', shows: 'main table tr', atLeast: 20 },
    { name: 'Audit log of operators', path: '/audit-log', shows: rows },
  ]
}
