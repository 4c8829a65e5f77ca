import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { parseSearch, stringifySearch } from '../ui/address.ts'
import { Frame, LeadOn, NotFound } from './Frame.tsx'

const root = createRootRoute({ component: Frame, notFoundComponent: () => <NotFound /> })

/** The page of an address, loaded when it is first opened. */
function page<Module extends Record<string, unknown>>(
  path: string,
  load: () => Promise<Module>,
  name: keyof Module & string,
) {
  return createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name),
  })
}

const app = '/apps/$appId'
const users = () => import('../pages/users.tsx')
const groups = () => import('../pages/groups.tsx')
const webhooks = () => import('../pages/webhooks.tsx')
const deployment = () => import('../pages/deployment.tsx')
const configuration = () => import('../pages/configuration.tsx')

const routeTree = root.addChildren([
  createRoute({ getParentRoute: () => root, path: '/', component: LeadOn }),
  page('/apps', () => import('../pages/apps.tsx'), 'Apps'),
  page('/operators', deployment, 'Operators'),
  page('/audit-log', () => import('../pages/audit-log.tsx'), 'OperatorAuditLog'),
  page('/health', () => import('../pages/health.tsx'), 'Health'),
  page('/account', () => import('../pages/account.tsx'), 'Account'),
  page(app, () => import('../pages/overview.tsx'), 'Overview'),
  page(`${app}/users`, users, 'Users'),
  page(`${app}/users/$uid`, users, 'UserPage'),
  page(`${app}/groups`, groups, 'Groups'),
  page(`${app}/groups/$guid`, groups, 'GroupPage'),
  page(`${app}/messages`, () => import('../pages/messages.tsx'), 'Messages'),
  page(`${app}/conversations/$conversationId`, () => import('../pages/conversation.tsx'), 'ConversationPage'),
  page(`${app}/webhooks`, webhooks, 'Webhooks'),
  page(`${app}/webhooks/$webhookId`, webhooks, 'WebhookPage'),
  page(`${app}/events`, () => import('../pages/events.tsx'), 'Events'),
  page(`${app}/moderation`, () => import('../pages/moderation.tsx'), 'Moderation'),
  page(`${app}/moderation/rules/$ruleId`, () => import('../pages/moderation-rules.tsx'), 'RulePage'),
  page(`${app}/notifications`, () => import('../pages/notifications.tsx'), 'Notifications'),
  page(`${app}/roles`, () => import('../pages/roles.tsx'), 'Roles'),
  page(`${app}/import`, () => import('../pages/import.tsx'), 'ImportAndExport'),
  page(`${app}/settings`, configuration, 'Settings'),
  page(`${app}/keys`, configuration, 'ApiKeys'),
  page(`${app}/audit-log`, () => import('../pages/audit-log.tsx'), 'AuditLog'),
])

export const router = createRouter({
  routeTree,
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultPreload: false,
  defaultErrorComponent: ({ error }) => <NotFound error={error} />,
})
