import { type OperatorRight, type OperatorRole, operatorRoles, rightsOfRoles } from '@parley/contract'
import { beforeAll, expect, it } from 'vitest'
import { createOperator, createOwner, type Visitor } from '../admin/operator.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { createWorld, type World } from '../support/world.ts'
import { findingsOf } from './axe.ts'
import { type ConsoleTab, describeConsole, openSignedIn } from './console.ts'

/** A page of the console, and what is on it for whom. */
interface PageOf {
  /** Below the address of the app, or from the first / on where it is none of an app. */
  readonly path: string
  /** Whoever lacks it is told so, and sees nothing of the page. */
  readonly right?: OperatorRight
  /** Names of buttons, with the right that each asks for. */
  readonly buttons?: Readonly<Record<string, OperatorRight>>
  /** What its picture in docs/console is called. */
  readonly picture?: string
}

/** Every page and every part of one that has an address. */
const pages: readonly PageOf[] = [
  { path: '', picture: 'overview' },
  { path: '/users', picture: 'users', buttons: { 'Create a user': 'manage' } },
  { path: '/users/alice', picture: 'user', buttons: { Edit: 'manage', Erase: 'manage', Deactivate: 'moderate' } },
  { path: '/users/alice?tab=groups', right: 'read' },
  { path: '/users/alice?tab=conversations', right: 'read' },
  { path: '/users/alice?tab=blocks', buttons: { 'Block somebody': 'manage' } },
  {
    path: '/users/alice?tab=sessions',
    picture: 'sessions',
    buttons: { 'Log out everywhere': 'moderate', End: 'moderate' },
  },
  {
    path: '/users/alice?tab=notifications',
    buttons: { 'Mute a conversation': 'configure', 'Change when': 'configure' },
  },
  {
    path: '/users/alice?tab=data',
    buttons: { 'Release what they have asked for': 'manage', 'Put on hold': 'configure' },
  },
  { path: '/users/alice?tab=history' },
  { path: '/groups', picture: 'groups', buttons: { 'Create a group': 'manage' } },
  {
    path: '/groups/team',
    picture: 'group',
    buttons: { Edit: 'manage', 'Change the owner': 'manage', Delete: 'manage', 'Add members': 'manage' },
  },
  { path: '/groups/team?tab=bans', buttons: { Unban: 'moderate', 'Ban somebody': 'moderate' } },
  { path: '/groups/team?tab=permissions' },
  { path: '/groups/team?tab=retention', buttons: { Change: 'configure', 'Put on hold': 'configure' } },
  { path: '/groups/team?tab=profile' },
  { path: '/messages', picture: 'messages' },
  { path: '/messages?tab=search', right: 'read', buttons: { Read: 'read' } },
  { path: '/conversations/group_team', picture: 'conversation', buttons: { Read: 'read' } },
  {
    path: '/moderation',
    picture: 'moderation',
    buttons: { Approve: 'moderate', Remove: 'moderate', Claim: 'moderate', Read: 'read' },
  },
  { path: '/moderation?tab=reviewed', buttons: { Read: 'read' } },
  { path: '/moderation?tab=rules', picture: 'rules', buttons: { 'Create a rule': 'rules' } },
  {
    path: '/moderation?tab=lists&list=insults&than={app}_insults_1',
    picture: 'lists',
    buttons: { 'Create a list': 'rules', Edit: 'rules', Delete: 'rules' },
  },
  { path: '/moderation?tab=reasons', buttons: { 'Create a reason': 'rules' } },
  { path: '/moderation?tab=engines', picture: 'engines', right: 'configure', buttons: { 'Set up': 'configure' } },
  {
    path: '/moderation/rules/insults',
    picture: 'rule',
    buttons: { Edit: 'rules', Delete: 'rules', Try: 'rules', Start: 'rules', 'Set to off': 'rules' },
  },
  { path: '/notifications', picture: 'notifications', buttons: { 'Send pushes again': 'configure' } },
  { path: '/notifications?tab=explain' },
  {
    path: '/notifications?tab=providers',
    picture: 'providers',
    right: 'configure',
    buttons: { 'Set up': 'configure' },
  },
  { path: '/notifications?tab=preferences', buttons: { Save: 'configure', 'Reset all': 'configure' } },
  { path: '/notifications?tab=preferences&part=mute', picture: 'schedule', buttons: { Save: 'configure' } },
  { path: '/notifications?tab=templates', picture: 'templates', buttons: { Save: 'configure', Discard: 'configure' } },
  { path: '/notifications?tab=unsubscriptions', right: 'read' },
  { path: '/webhooks', picture: 'webhooks', right: 'configure', buttons: { 'Create a webhook': 'configure' } },
  {
    path: '/webhooks/hook',
    picture: 'webhook',
    right: 'configure',
    buttons: { Test: 'configure', Edit: 'configure', Delete: 'configure', Disable: 'configure' },
  },
  { path: '/events', picture: 'events' },
  { path: '/roles', picture: 'roles', buttons: { 'Create a role': 'configure' } },
  { path: '/import?tab=export', picture: 'export', right: 'manage', buttons: { Export: 'manage' } },
  { path: '/import', picture: 'import', right: 'manage', buttons: { 'Dry run': 'manage', Import: 'manage' } },
  { path: '/settings', picture: 'settings', buttons: { Save: 'configure' } },
  { path: '/keys', picture: 'keys', right: 'keys', buttons: { 'Create a key': 'keys', Delete: 'keys' } },
  { path: '/audit-log', picture: 'audit-log', buttons: { Export: 'look' } },
  { path: '//apps', picture: 'apps', buttons: { 'Create an app': 'apps', Pause: 'configure' } },
  { path: '//health', picture: 'health', right: 'health', buttons: { 'Run the doctor': 'doctor' } },
  { path: '//operators', picture: 'operators', right: 'operators', buttons: { 'Invite somebody': 'operators' } },
  { path: '//audit-log', right: 'operators', buttons: { Export: 'operators' } },
  { path: '//account', picture: 'account', buttons: { 'Create a token': 'look' } },
]

const names = ['Alice Adams', 'Bob Brown', 'Carol Chen', 'Dave Diaz', 'Erin Ekwueme', 'Frank Fischer', 'Grace Gupta']

/** Heads of columns that have nothing below them, on a page: what nobody there may do has no column. */
const emptyColumns = `[...document.querySelectorAll('main [role=table], main table')].flatMap((table) => {
  const rows = [...table.querySelectorAll('[role=row], tr')].map((row) => [...row.children])
  const [head = [], ...others] = rows
  return others.length === 0 ? [] : head.flatMap((cell, at) =>
    /^Actions?$/.test(cell.textContent) && others.every((row) => !row[at]?.textContent.trim()) ? [cell.textContent] : [])
})`

/** Inputs that look as if something could be put in where nothing can: what may not be changed is shown as text. */
const idleInputs = `[...document.querySelectorAll('main :is(input, textarea, select):disabled, main textarea[readonly]')]
  .map((input) => input.getAttribute('aria-label') ?? input.labels?.[0]?.textContent ?? input.outerHTML)`

/** Everything that pages need to have something on them. */
async function furnish(world: World): Promise<void> {
  for (const name of names) {
    const uid = (name.split(' ')[0] ?? '').toLowerCase()
    dataOf(await world.post('/users', { uid, name, tags: uid === 'alice' ? ['staff'] : [], metadata: { plan: 'pro' } }))
  }
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'dave', 'erin', 'frank'] })
  dataOf(await world.post('/groups/team/bannedusers/carol'))
  dataOf(await world.post('/users/alice/auth_tokens', { platform: 'ios', userAgent: 'Chat 3.1' }))
  const talk = ['Shall we meet at six?', 'I can do half past.', 'Fine, the usual place.', 'Bring the tickets.']
  for (const [n, text] of talk.entries()) {
    await sayInGroup(world, ['alice', 'bob', 'dave', 'erin'][n] as string, 'team', text)
    await say(world, n % 2 === 0 ? 'alice' : 'bob', n % 2 === 0 ? 'bob' : 'alice', text)
  }
  const { id } = await say(world, 'alice', 'bob', 'You never listen, do you?')
  dataOf(await world.post(`/messages/${id}/flagged`, { remark: 'rude' }, { as: 'bob' }))
  const list = { id: 'insults', name: 'Insults', category: 'word', searchTerms: 'darn, heck' }
  dataOf(await world.post('/moderation/keywords', list))
  dataOf(await world.put('/moderation/keywords/insults', { searchTerms: 'heck, blast, blimey' }))
  const conditions = [{ operand: 'text', category: 'word', operator: 'contains', value: ['darn'] }]
  dataOf(await world.post('/moderation/rules', { id: 'insults', name: 'Insults', mode: 'shadow', conditions }))
  const webhookURL = 'https://127.0.0.1:9/hook'
  dataOf(await world.post('/webhooks', { id: 'hook', name: 'Hook', webhookURL, triggers: ['message_sent'] }))
}

const isLong = process.env.LONG === '1'
/**
 * A folder for pictures: those of docs/console, as an owner sees the pages at a desk (`PICTURES=docs/console LONG=1`); or of every page,
 * in either look, as the roles see them that PICTURES_OF names (`PICTURES_OF=moderator,support`), to look at.
 */
const { PICTURES: picturesIn, PICTURES_OF: picturesOf } = process.env
/** What the picture of a page is called; undefined where none is wanted. */
function pictureOf(role: OperatorRole, width: number, { path, picture }: PageOf): string | undefined {
  if (picturesIn === undefined) return undefined
  if (picturesOf === undefined) return role === 'owner' && width > 1000 ? picture : undefined
  const place = path.replaceAll(/[^a-z]+/gi, '-').replaceAll(/^-|-$/g, '') || 'overview'
  return picturesOf.split(',').includes(role) ? `${role}-${width > 1000 ? 'desk' : 'phone'}-${place}` : undefined
}
/** A phone is narrow and dark; what is right for one colour scheme need not be for the other. */
const looks = [
  { name: 'a desk, light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'a phone, dark', colorScheme: 'dark', viewport: { width: 390, height: 780 } },
] as const

describeConsole('every page of the console, in a real browser', () => {
  let world: World
  const visitors = new Map<OperatorRole, Visitor>()

  beforeAll(async () => {
    world = await createWorld()
    await furnish(world)
    const owner = await createOwner(world)
    for (const role of operatorRoles) {
      // Of all apps: what is of the deployment is among the pages.
      visitors.set(role, role === 'owner' ? owner : await createOperator(owner, { role }))
    }
  })

  /** Opens a page, and waits until nothing of it is still loading. */
  async function open({ page, open }: ConsoleTab, path: string): Promise<void> {
    const below = path.replaceAll('{app}', world.app.name)
    await open(path.startsWith('//') ? below.slice(1) : `/apps/${world.app.name}${below}`)
    await page.locator('main').locator('h1, [role=alert]').first().waitFor()
    await page.locator('main [aria-label="Loading"], main [aria-busy="true"]').first().waitFor({ state: 'detached' })
  }

  async function look(tab: ConsoleTab, role: OperatorRole, shown: PageOf): Promise<string[]> {
    const { path, right, buttons = {} } = shown
    await open(tab, path)
    const { page } = tab
    const may = (asked: OperatorRight) => rightsOfRoles[role].includes(asked)
    const flaws: string[] = []
    const isOpen = right === undefined || may(right)
    if ((await page.getByText('You may not see this').count()) !== (isOpen ? 0 : 1)) {
      flaws.push(isOpen ? 'is refused' : 'is not refused')
    }
    for (const [name, asked] of Object.entries(buttons)) {
      const button = page.locator('main').getByRole('button', { name, exact: true }).first()
      if (isOpen && may(asked)) {
        await button.waitFor({ timeout: 10_000 }).catch(() => flaws.push(`has no “${name}”`))
      } else if ((await button.count()) > 0) flaws.push(`has “${name}”`)
    }
    if (!may('configure')) {
      for (const input of await page.evaluate<string[]>(idleInputs)) flaws.push(`has the input “${input}”`)
    }
    for (const column of await page.evaluate<string[]>(emptyColumns)) flaws.push(`has an empty column “${column}”`)
    if (isLong || role === 'owner') flaws.push(...(await findingsOf(page)))
    const picture = pictureOf(role, page.viewportSize()?.width ?? 0, shown)
    if (picture !== undefined) {
      await page.screenshot({ path: `${picturesIn}/${picture}.png`, animations: 'disabled' })
    }
    const isTooWide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
    if (isTooWide) flaws.push('is wider than the screen')
    return flaws.map((flaw) => `${path} ${flaw}`)
  }

  // Each page for each role in either look, with axe-core, is for the long run. Here owners see half of the pages at a desk and the others on
  // a phone, with axe-core, and the other roles each page at a desk.
  const [desk, phone] = looks
  const half = (which: number) => pages.filter((_, place) => place % 2 === which)
  const views = isLong
    ? operatorRoles.flatMap((role) => looks.map((look) => ({ role, look, mine: pages })))
    : [
        { role: 'owner' as const, look: desk, mine: half(0) },
        { role: 'owner' as const, look: phone, mine: half(1) },
        ...operatorRoles.filter((role) => role !== 'owner').map((role) => ({ role, look: desk, mine: pages })),
      ]
  it.each(views.map((view) => [view.role, view.look.name, view] as const))(
    'shows %s what they may see, and no more: at %s',
    async (role, _, { look: { colorScheme, viewport }, mine }) => {
      const tab = await openSignedIn(world, visitors.get(role) as Visitor, '/account')
      await tab.page.setViewportSize(viewport)
      await tab.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const flaws: string[] = []
      tab.page.on('response', (answer) => {
        // What they may not see is not asked for, either.
        if (answer.status() === 403) flaws.push(`${tab.page.url()} asks for ${answer.url()}`)
      })
      for (const page of mine) flaws.push(...(await look(tab, role, page)))
      expect(flaws).toEqual([])
      // Whoever may not see something is answered so.
      expect(tab.problems.filter((problem) => !/40[34]/.test(problem))).toEqual([])
    },
    600_000,
  )
})
