import type { Message, NotificationReason, UnreadChannel } from '@parley/contract'
import type { AppSettingsStore } from '../../../chat/app-settings.ts'
import { type GroupRow, readGroups } from '../../../chat/groups/rows.ts'
import type { App } from '../../../chat/identity.ts'
import { readMessages, type StoredMessage } from '../../../chat/messages/rows.ts'
import { showMessages } from '../../../chat/messages/show.ts'
import { isHeld } from '../../../chat/messages/traits.ts'
import { decidedGone, type Gate, hiddenGate } from '../../../chat/notifications/decide.ts'
import { privacyOf } from '../../../chat/notifications/preferences.ts'
import type { ProviderRow } from '../../../chat/notifications/providers.ts'
import { hidesByRole, readVisible, restrictedOf, type Viewer } from '../../../chat/sight/sight.ts'
import { readUsers } from '../../../chat/users/rows.ts'
import type { Queryable } from '../../../store/database.ts'
import { viewerOf } from '../ask-again.ts'
import type { DueNotification } from '../due.ts'
import type { RenderOptions } from '../render.ts'
import { contentOf } from './content.ts'
import { type DecidedWindow, decideWindow } from './decide-window.ts'
import { type Links, type LinksOptions, linksOf } from './links.ts'
import { countUnread, countVisible, readWindowMessages, type WindowMessage } from './messages.ts'
import type { UnreadNotification } from './notification.ts'
import { closeWindows, storeDecidedWindows, type Window } from './windows.ts'

export interface UnreadOptions extends RenderOptions, LinksOptions {
  readonly settings: AppSettingsStore
}

export type RenderedUnread =
  | { readonly notice: UnreadNotification }
  | { readonly lapse: NotificationReason; readonly gates: readonly Gate[] }

/** What one e-mail lists at most. */
const mostListed = 20

/** A window that is to be sent. */
interface OpenWindow {
  readonly window: Window
  readonly announced: readonly WindowMessage[]
}

/** Closes windows that are due, decides on each, and makes e-mails or SMS of what is unread now. */
export async function renderUnread(
  options: UnreadOptions,
  app: App,
  provider: ProviderRow & { readonly channel: UnreadChannel },
  due: readonly Pick<DueNotification, 'id' | 'expiresAt'>[],
): Promise<ReadonlyMap<number, RenderedUnread>> {
  const rendered = new Map<number, RenderedUnread>()
  if (due.length === 0) return rendered
  const { database } = options
  const now = options.now()
  const ids = due.map(({ id }) => id)
  const windows = new Map((await closeWindows(database, app.appId, provider, ids, now)).map((one) => [one.id, one]))
  const [messages, notifications, defaults] = await Promise.all([
    readWindowMessages(database, app.appId, ids),
    options.notificationSettings.of(app.appId),
    options.settings.of(app.appId),
  ])
  const open: OpenWindow[] = []
  const decidedAs = new Map<number, DecidedWindow>()
  const sentNow = new Map<string, number[]>()
  for (const { id, expiresAt } of due) {
    const window = windows.get(id)
    if (window === undefined) {
      // Its conversation is gone.
      const { reason: lapse, gates } = decidedGone('event', { isInTime: now < expiresAt })
      rendered.set(id, { lapse, gates })
    } else {
      const sent = sentNow.get(window.uid) ?? []
      const decideOptions = { channel: provider.channel, app: notifications, defaults, now }
      const decided = decideWindow(window, messages.get(id) ?? [], sent, decideOptions)
      decidedAs.set(id, decided)
      const { reason, gates, announced } = decided
      if (reason !== undefined) rendered.set(id, { lapse: reason, gates })
      else {
        open.push({ window, announced })
        // What was tried before is among what the others know of.
        if (window.untilId === null) sentNow.set(window.uid, [...sent, window.conversation])
      }
    }
  }
  const shown = await show(options, app.appId, open)
  for (const { window } of open) {
    const { gates = [] } = decidedAs.get(window.id) ?? {}
    if (!shown.has(window.id)) rendered.set(window.id, { lapse: 'NOT_VISIBLE', gates: [...gates, hiddenGate] })
  }
  await storeDecidedWindows(
    database,
    app.appId,
    [...windows.keys()].map((id) => ({
      id,
      until: messages.get(id)?.[0],
      gates: decidedAs.get(id)?.gates,
      messages: decidedAs.get(id)?.decided,
    })),
  )
  const shownOpen = open.filter(({ window }) => shown.has(window.id))
  const [unread, users, links] = await Promise.all([
    countShown(database, app.appId, shown),
    readUsers(database, app.appId, [
      ...shownOpen.map(({ window }) => window.uid),
      ...[...shown.values()].flatMap(({ messages: list }) => list.map(({ sender }) => sender)),
    ]),
    readLinks(options, app, provider, shownOpen),
  ])
  for (const { window, announced } of shownOpen) {
    const { messages: list, group, narrowed } = shown.get(window.id) as Shown
    const count = unread.get(window.id) ?? 0
    const content = contentOf({
      ...{ channel: provider.channel, uid: window.uid, messages: list, group, users },
      address: window.address === 'stored' ? (window.contact ?? undefined) : undefined,
      // What is not listed may be hidden from them, so that the count alone tells of it.
      announced:
        announced.length > mostListed ? Math.max(narrowed ? list.length : announced.length, count) : list.length,
      unread: Math.max(count, list.length),
      settings: notifications.settings,
      isPrivate: privacyOf(notifications, window.preferences ?? {}).value,
      smsMaxSegments: defaults.smsMaxSegments,
    })
    rendered.set(window.id, { notice: { ...content, ...links.get(window.id) } })
  }
  return rendered
}

interface Shown {
  /** Oldest first. */
  readonly messages: readonly Message[]
  readonly group: GroupRow | undefined
  /** Who looks, where something may be hidden from them. */
  readonly narrowed: Viewer | undefined
}

/** The newest messages of each window, as its user sees them; windows of which they see none are missing. */
async function show(
  { database, policies }: UnreadOptions,
  appId: number,
  open: readonly OpenWindow[],
): Promise<ReadonlyMap<number, Shown>> {
  if (open.length === 0) return new Map()
  const listed = new Map(open.map(({ window, announced }) => [window.id, announced.slice(0, mostListed).reverse()]))
  const [stored, groups, ofRoles] = await Promise.all([
    readMessages(
      database,
      appId,
      [...listed.values()].flatMap((list) => list.map(({ id }) => id)),
    ),
    readGroups(
      database,
      appId,
      open.flatMap(({ window }) => (window.kind === 'group' ? window.first : [])),
    ),
    policies.ofApp(appId),
  ])
  const rows = [...stored.values()]
  const written = await showMessages(database, appId, rows, { withQuoted: false })
  const messages = new Map(rows.map((row, i) => [row.id, written[i] as Message]))
  const shown = new Map<number, Shown>()
  for (const { window } of open) {
    const group = window.kind === 'group' ? groups.get(window.first) : undefined
    const viewer = viewerOf(window, ofRoles)
    const own = (listed.get(window.id) ?? []).flatMap(({ id }): StoredMessage[] => {
      const row = stored.get(id)
      return row === undefined || row.deletedAt !== null || isHeld(row) ? [] : [row]
    })
    const mayHide = hidesByRole(viewer) || (group !== undefined && group.permissionsVersion !== 0)
    const visible = mayHide ? await readVisible(database, appId, viewer, own) : undefined
    const seen = own.filter(({ id }) => visible?.has(id) ?? true)
    if (seen.length === 0 || (window.kind === 'group' && group === undefined)) continue
    shown.set(window.id, {
      messages: seen.map(({ id }) => messages.get(id) as Message),
      ...{ group, narrowed: mayHide ? viewer : undefined },
    })
  }
  return shown
}

/** How many messages are unread of each window, of those that its user sees. */
async function countShown(
  on: Queryable,
  appId: number,
  shown: ReadonlyMap<number, Shown>,
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map(await countUnread(on, appId, [...shown.keys()]))
  for (const [window, { narrowed, group }] of shown) {
    if (narrowed === undefined) continue
    const guids = restrictedOf(group === undefined ? [] : [group])
    counts.set(window, await countVisible(on, appId, narrowed, window, guids))
  }
  return counts
}

async function readLinks(
  options: UnreadOptions,
  app: App,
  provider: ProviderRow & { readonly channel: UnreadChannel },
  shownOpen: readonly OpenWindow[],
): Promise<ReadonlyMap<number, Links>> {
  const links = await Promise.all(
    shownOpen.map(async ({ window: { id, uid, conversation } }) => {
      const of = { appId: app.appId, uid, channel: provider.channel, conversation }
      return [id, await linksOf(options, provider, of, options.now())] as const
    }),
  )
  return new Map(links)
}
