import type { Right } from '../api.ts'

export interface Section {
  readonly label: string
  /** Below the address of the app, or of the console. */
  readonly path: string
  readonly right: Right
}

/** Pages about one app, in the order of the menu. */
export const sectionsOfApp: readonly Section[] = [
  { label: 'Overview', path: '', right: 'look' },
  { label: 'Users', path: '/users', right: 'look' },
  { label: 'Groups', path: '/groups', right: 'look' },
  { label: 'Messages', path: '/messages', right: 'look' },
  { label: 'Moderation', path: '/moderation', right: 'look' },
  { label: 'Notifications', path: '/notifications', right: 'look' },
  { label: 'Webhooks', path: '/webhooks', right: 'configure' },
  { label: 'Events', path: '/events', right: 'look' },
  { label: 'Roles', path: '/roles', right: 'look' },
  { label: 'Import and export', path: '/import', right: 'manage' },
  { label: 'Settings', path: '/settings', right: 'look' },
  { label: 'API keys', path: '/keys', right: 'keys' },
  { label: 'Audit log', path: '/audit-log', right: 'look' },
]

/** Pages about the whole deployment. */
export const sectionsOfDeployment: readonly Section[] = [
  { label: 'Apps', path: '/apps', right: 'look' },
  { label: 'Health', path: '/health', right: 'health' },
  { label: 'Operators', path: '/operators', right: 'operators' },
  { label: 'Audit log of operators', path: '/audit-log', right: 'operators' },
]
