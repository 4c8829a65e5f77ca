import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { type Me, queryClient, type Right } from '../api.ts'
import {
  appOf,
  conversationsIn,
  conversationsOf,
  countOfUsers,
  daysOf,
  featuresIn,
  groupOf,
  groupsIn,
  groupsOf,
  healthOf,
  healthOfAll,
  knownOf,
  limitsOf,
  membersOf,
  newestIn,
  onlineIn,
  type Role,
  readingsIn,
  rolesIn,
  settingsOf,
  userOf,
  usersIn,
} from '../questions.ts'
import { parseSearch, type Search, stringifySearch } from '../ui/address.ts'
import { pagesOf, type Question } from '../ui/lists.ts'
import { Frame, LeadOn, NotFound } from './Frame.tsx'

const root = createRootRoute({ component: Frame, notFoundComponent: () => <NotFound /> })

/** What the address of a page says, and what whoever opens it may do. */
interface Opened {
  readonly params: Readonly<Record<string, string>>
  readonly search: Search
  readonly can: (right: Right) => boolean
}

type AskAhead = (opened: Opened) => readonly (Promise<unknown> | false)[]

/** By the path of the route. */
const firstQuestions = new Map<string, AskAhead>()

/**
 * The page of an address, loaded when it is first opened.
 * @param ahead asks for what the page shows first, as soon as its link is followed, while its program is still loaded and drawn
 */
function page<Module extends Record<string, unknown>>(
  path: string,
  load: () => Promise<Module>,
  name: keyof Module & string,
  ahead?: AskAhead,
) {
  if (ahead !== undefined) firstQuestions.set(path, ahead)
  return createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name),
  })
}

const one = (query: { readonly queryKey: readonly unknown[]; readonly queryFn: () => Promise<unknown> }) =>
  queryClient.prefetchQuery(query)
const rows = <Row,>(question: Question<Row>) => queryClient.prefetchInfiniteQuery(pagesOf(question))

const eachRole = async (appId: string) => {
  await one(rolesIn(appId))
  const roles = queryClient.getQueryData<readonly Role[]>(rolesIn(appId).queryKey) ?? []
  await Promise.all(roles.map((role) => one(knownOf(appId, role))))
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
  page(
    app,
    () => import('../pages/overview.tsx'),
    'Overview',
    ({ params: { appId = '' }, can }) => [
      ...[healthOf(appId), daysOf(appId), onlineIn(appId), countOfUsers(appId)].map(one),
      can('health') && one(healthOfAll),
    ],
  ),
  page(`${app}/users`, users, 'Users', ({ params: { appId = '' }, search }) => [rows(usersIn(appId, search))]),
  page(`${app}/users/$uid`, users, 'UserPage', ({ params: { appId = '', uid = '' }, search: { tab }, can }) => [
    one(userOf(appId, uid)),
    tab === 'groups' && can('read') && rows(groupsOf(appId, uid)),
    tab === 'conversations' && can('read') && rows(conversationsOf(appId, uid)),
  ]),
  page(`${app}/groups`, groups, 'Groups', ({ params: { appId = '' }, search }) => [rows(groupsIn(appId, search))]),
  page(`${app}/groups/$guid`, groups, 'GroupPage', ({ params: { appId = '', guid = '' }, search }) => [
    one(groupOf(appId, guid)),
    (search.tab ?? 'members') === 'members' && rows(membersOf(appId, guid, search)),
  ]),
  page(
    `${app}/messages`,
    () => import('../pages/messages.tsx'),
    'Messages',
    ({ params: { appId = '' }, search }) => [
      (search.tab ?? 'conversations') === 'conversations' && rows(conversationsIn(appId, search)),
    ],
  ),
  page(
    `${app}/conversations/$conversationId`,
    () => import('../pages/conversation.tsx'),
    'ConversationPage',
    ({ params: { appId = '', conversationId = '' }, search: { at }, can }) => [
      at === undefined && one(newestIn(appId, conversationId)),
      can('read') && one(readingsIn(appId)),
    ],
  ),
  page(`${app}/webhooks`, webhooks, 'Webhooks'),
  page(`${app}/webhooks/$webhookId`, webhooks, 'WebhookPage'),
  page(`${app}/events`, () => import('../pages/events.tsx'), 'Events'),
  page(`${app}/moderation`, () => import('../pages/moderation.tsx'), 'Moderation'),
  page(`${app}/moderation/rules/$ruleId`, () => import('../pages/moderation-rules.tsx'), 'RulePage'),
  page(`${app}/notifications`, () => import('../pages/notifications.tsx'), 'Notifications'),
  page(
    `${app}/roles`,
    () => import('../pages/roles.tsx'),
    'Roles',
    ({ params: { appId = '' } }) => [one(featuresIn(appId)), eachRole(appId)],
  ),
  page(`${app}/import`, () => import('../pages/import.tsx'), 'ImportAndExport'),
  page(`${app}/settings`, configuration, 'Settings', ({ params: { appId = '' } }) => [
    one(settingsOf(appId)),
    one(limitsOf(appId)),
  ]),
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

// Before anything is drawn. Nobody waits for it here: the page finds the answer, or that it is under way.
router.subscribe('onBeforeLoad', ({ toLocation, hrefChanged }) => {
  if (!hrefChanged) return
  const [, params, route] = router.getMatchedRoutes(toLocation.pathname)
  const rights = queryClient.getQueryData<Me>(['me'])?.rights ?? []
  if (params.appId !== undefined) void one(appOf(params.appId))
  firstQuestions.get(route?.fullPath ?? '')?.({
    params,
    search: toLocation.search as Search,
    can: (right) => rights.includes(right),
  })
})
