import type { Area } from '@parley/contract'

/** What the reference says of each area, in the order in which it shows them: what a product calls first stands first. */
export const areas: Readonly<Record<Area, string>> = {
  Users: 'The people of your product, and their profiles. Back ends create them; front ends list and search them.',
  Messages:
    'Sending, listing and searching messages; edits, deletions, threads, reactions, mentions, pins, saved messages and files.',
  Conversations: 'Who a user talks with, the last message and unread count of each, receipts, tags, pins and resets.',
  Groups: 'Public, password-protected and private groups.',
  'Group Members': 'Who is in a group, and with which scope: admin, moderator or participant.',
  'Banned Users': 'Who may not join a group again.',
  'Auth Tokens': 'The tokens with which front ends log in. Your back end creates them.',
  'Blocked Users': 'Users who have blocked each other exchange no messages.',
  Friends: 'Friendships between users, by which lists can be filtered.',
  Roles: 'Roles of users across the app.',
  RBAC: 'What a role may do anywhere, and what a scope may do in one group.',
  'Restrict Features': 'Whole features that a role cannot use.',
  Moderation:
    'Rules that judge messages before anybody sees them, lists of words, reasons for flagging, and the queues of reviewers.',
  Notifications:
    'Push notifications, e-mail and SMS: providers, templates, preferences, devices, and a log that explains each decision.',
  Webhooks: 'Calls to your back end when something happens, their triggers and deliveries, and the log of events.',
  'Data Import': 'Users, groups, members and messages of a previous chat system, with their times.',
  Metrics: 'Usage figures of the app: active users, peaks, messages and receipts.',
  'API Keys': 'The keys with which back ends call.',
  Apps: 'Settings of an app and its audit log.',
}

/** What somebody must know before the first call. Markdown. */
export function guideOf(defaultApp: string): string {
  return `A chat backend: users, groups, conversations and messages over HTTP. What happens is sent live over a
socket (\`asyncapi.json\`, beside this document), and to your back end by webhooks. Every path is also available under \`/v3\` and \`/v3.0\`.

# Keys and tokens

Back ends send an API key in the header \`apikey\`. A **fullAccess** key can call everything: keep it on your servers. An
**authOnly** key can create users and auth tokens; it is for development, since whoever has it can log in as anybody.

Front ends send the auth token of their user in the header \`authToken\` instead. Your back end creates it with
\`POST /users/{uid}/auth_tokens\`. Operations that take one list it under their authorization.

The app is taken from the host name, else from the header \`appId\`, else it is "${defaultApp}".

# Acting users

With a fullAccess key, the header \`onBehalfOf\` names the user who acts, and all rules hold for them: roles, scopes, blocks,
membership. Without it the app itself acts, and none of them hold. With an auth token the acting user is its user.

# Pages

Lists of users, groups and the like take \`page\` and \`perPage\`; \`meta.pagination\` has the total. Lists of messages go by
cursors: ask for \`affix=prepend\` without a cursor to get the newest page, then repeat the call with the \`id\` and
\`sentAt\` of \`meta.previous\` to go back. Rows ascend by time within a page.

# Sending again

A message with a \`muid\` of your own, such as a UUID, is stored once: if the answer was lost, send it again with the same
\`muid\`, and you get the stored message. Reads can be repeated at any time. After a 503, wait as long as \`Retry-After\`
says.

# Limits

An answer of 429 has \`Retry-After\` in seconds. \`x-rate-limit\` and \`x-rate-limit-remaining\` are on the answer to
every call that is counted. Bodies have at most 128 kB of JSON where an operation does not say otherwise. An array in a query is one
parameter, its values separated by commas.

# Errors

An error is \`{"error": {"code", "message", "devMessage", "source"}}\`. The code is stable; \`devMessage\` says what to
change and is for developers. Each operation lists its codes.`
}
