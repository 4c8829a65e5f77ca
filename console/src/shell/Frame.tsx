import {
  ActionIcon,
  AppShell,
  Box,
  Burger,
  Group,
  Menu,
  ScrollArea,
  Select,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Navigate, Outlet, useLocation, useMatches, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { admin, isSignedOut, queryClient } from '../api.ts'
import { discardWork } from '../exports/leaving.ts'
import { Questions, useAct } from '../ui/act.tsx'
import { PausedBanner } from '../ui/app-state.tsx'
import { useAppOf, useAppSearch, useApps } from '../ui/apps.ts'
import { PageLink } from '../ui/PageLink.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Forbidden, Loading, Problem } from '../ui/states.tsx'
import { type Section, sectionsOfApp, sectionsOfDeployment } from './sections.ts'
import { useCan, useMe } from './session.tsx'

/** The menu, what is above it, and the page. */
export function Frame() {
  const [isOpen, { toggle, close }] = useDisclosure()
  const { pathname } = useLocation()
  const { appId } = useParams({ strict: false }) as { appId?: string }
  const { data: app } = useAppOf(appId)
  useSignOutElsewhere()
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone the menu covers the page that was chosen
  useEffect(close, [pathname, close])
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
          <Text fw={700} component={Link} to="/" c="inherit" td="none">
            Parley
          </Text>
          <AppChoice appId={appId} />
          <Box flex={1} />
          <SchemeButton />
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <ScrollArea type="hover" scrollbarSize={6} component="nav" aria-label="Pages">
          {appId !== undefined && (
            <>
              <Text size="xs" c="dimmed" fw={600} px="xs" py={6} className="app-name" truncate>
                {appId}
              </Text>
              <Sections of={sectionsOfApp} base={`/apps/${encodeURIComponent(appId)}`} />
            </>
          )}
          <Text size="xs" c="dimmed" fw={600} px="xs" pt="md" pb={6}>
            Deployment
          </Text>
          <Sections of={sectionsOfDeployment} base="" />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main>
        <PausedBanner app={app} />
        <Allowed appId={appId}>
          <Outlet />
        </Allowed>
      </AppShell.Main>
      <Questions />
    </AppShell>
  )
}

/** The page, for those who may see it. */
function Allowed({ appId, children }: { readonly appId: string | undefined; readonly children: ReactNode }) {
  const can = useCan()
  // Of the page that is drawn: the address is that of the next one as soon as its link is followed.
  const pathname = useMatches({ select: (matches) => matches.at(-1)?.pathname ?? '/' })
  const base = appId === undefined ? '' : `/apps/${encodeURIComponent(appId)}`
  const section = sectionAt(pathname, base)
  if (section === undefined || can(section.right)) return children
  return (
    <Page title={section.label}>
      <Forbidden right={section.right} />
    </Page>
  )
}

/** The section that a page is in: the one with the longest path that the page's begins with. */
function sectionAt(pathname: string, base: string): Section | undefined {
  return (base === '' ? sectionsOfDeployment : sectionsOfApp)
    .filter(({ path }) => pathname === base + path || pathname.startsWith(`${base}${path}/`))
    .sort((a, b) => b.path.length - a.path.length)[0]
}

function Sections({ of, base }: { readonly of: readonly Section[]; readonly base: string }) {
  const can = useCan()
  const { pathname } = useLocation()
  return of
    .filter(({ right }) => can(right))
    .map(({ label, path }) => {
      const address = base + path
      const isHere = path === '' ? pathname === address : pathname === address || pathname.startsWith(`${address}/`)
      const isExact = base === '' ? pathname === address : isHere
      return (
        <PageLink key={path} to={address} aria-current={isExact ? 'page' : undefined} className="section">
          {label}
        </PageLink>
      )
    })
}

function AppChoice({ appId }: { readonly appId: string | undefined }) {
  const { data: apps } = useApps()
  const navigate = useNavigate()
  const { typed, setTyped, appIds } = useAppSearch(appId === undefined ? [] : [appId])
  if (apps?.meta.pagination.total === 1 && apps.data[0]?.appId === appId) return null
  return (
    <Select
      aria-label="App"
      placeholder="Choose an app"
      size="xs"
      w={{ base: 180, sm: 220 }}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      nothingFoundMessage="No app is found"
      limit={100}
      data={appIds}
      value={appId ?? null}
      onChange={(next) => next !== null && void navigate({ to: `/apps/${encodeURIComponent(next)}` })}
    />
  )
}

function SchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const next = colorScheme === 'auto' ? 'light' : colorScheme === 'light' ? 'dark' : 'auto'
  return (
    <ActionIcon
      variant="default"
      aria-label={`Colors: ${colorScheme}`}
      title={`Colors: ${colorScheme}`}
      onClick={() => setColorScheme(next)}
    >
      {colorScheme === 'dark' ? '☾' : colorScheme === 'light' ? '☀' : '◐'}
    </ActionIcon>
  )
}

function AccountMenu() {
  const me = useMe()
  const act = useAct()
  const navigate = useNavigate()
  const signOut = () =>
    act({
      run: async () => {
        await admin('DELETE /session')
        await discardWork()
        queryClient.clear()
        location.assign('/console')
      },
      done: 'Signed out',
    })
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <UnstyledButton>
          <Text size="sm">{me.name}</Text>
          <Text size="xs" c="dimmed">
            {me.role}
          </Text>
          <VisuallyHidden>your account</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void navigate({ to: '/account' })}>Your account</Menu.Item>
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Whoever is signed out meanwhile, by another tab or an owner, sees how to sign in again. */
function useSignOutElsewhere(): void {
  useEffect(
    () =>
      queryClient.getQueryCache().subscribe(({ query }) => {
        if (isSignedOut(query.state.error) && query.queryKey[0] !== 'me') {
          void queryClient.invalidateQueries({ queryKey: ['me'] })
        }
      }),
    [],
  )
}

/** The first page: the app, where there is one. */
export function LeadOn() {
  const apps = useApps()
  if (apps.isError) return <Problem error={apps.error} onRetry={() => void apps.refetch()} />
  if (apps.data === undefined) return <Loading />
  const [first, second] = apps.data.data
  if (first === undefined) return <Empty>There is no app here that you look after.</Empty>
  return <Navigate to={second === undefined ? `/apps/${encodeURIComponent(first.appId)}` : '/apps'} replace />
}

export function NotFound({ error }: { readonly error?: unknown }) {
  return error === undefined ? <Empty>There is no such page.</Empty> : <Problem error={error} />
}
