import type { MessageList as Messages, PendingMessage, ShownMessage } from '@parley/client'
import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useParleyContext } from './context.tsx'
import { useDate } from './date.ts'
import { dayOf } from './format.ts'
import { useMe, useMessages, usePageVisible } from './hooks.ts'
import { Icon } from './Icon.tsx'
import { MessageItem, PendingItem } from './MessageItem.tsx'
import type { MessageActions } from './props.ts'
import { useShield } from './shield.ts'
import { useWindow } from './window.ts'

/** A message to be brought into view: another object, also with the same id, brings it there again. */
export interface Sought {
  readonly id: string
}

export interface MessageListProps {
  /** A conversation or a thread that is open; undefined while it is being opened. */
  readonly list: Messages | undefined
  /** What a screen reader says of the list. */
  readonly label: string
  /** The messages around it are loaded where it is not there. */
  readonly sought?: Sought | undefined
  /** Called for each new message, once it is the last one on screen and somebody looks at the page. */
  readonly onSeen?: (newest: ShownMessage) => void
  readonly onQuote?: (message: ShownMessage) => void
  readonly onEdit?: (message: ShownMessage) => void
  readonly onOpenThread?: (message: ShownMessage) => void
}

type Row =
  | {
      readonly is: 'message'
      readonly key: string
      readonly message: ShownMessage
      readonly isContinued: boolean
      /** It is the first of a day. */
      readonly isDay: boolean
    }
  | { readonly is: 'pending'; readonly key: string; readonly pending: PendingMessage }

/** Screens above what is seen at which older messages are asked for, and pixels from the end that count as the end. */
const aheadScreens = 5
const nearEnd = 60
/** What ARIA has for a list whose length nobody knows, or that is long and changes often. */
const unknownSize = -1
const mostCounted = 100
/** Seconds within which messages of one sender stand together. */
const together = 300

/** Messages of a conversation or a thread, of any number: what is not near is not drawn. The newest is at the end. */
export function MessageList({ list, label, sought, onSeen, onQuote, onEdit, onOpenThread }: MessageListProps) {
  const { client, texts, locale } = useParleyContext()
  const date = useDate()
  const me = useMe()
  const snapshot = useMessages(list)
  const { messages, pending, hasOlder, hasNewer, isLoaded, failed, error } = snapshot
  const hasFailed = failed !== undefined
  const known = useRef<Known>({ messages: [], rows: [] })
  const rows = useMemo(() => {
    const made = rowsOf(messages, pending, known.current)
    known.current = { messages, rows: made }
    return made
  }, [messages, pending])
  const scroller = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const [focused, setFocused] = useState<string>()
  const { shieldRef, raise } = useShield(scroller)
  const { from, until, contentRef, isFollowing, lastOffset, cover, show, toEnd } = useWindow({ list, rows, scroller })

  /** What was sought and is shown, or could not be loaded. */
  const [settled, setSettled] = useState<Sought>()
  const isSeeking = sought !== undefined && sought !== settled
  const shown = useRef<Sought>(undefined)

  const newest = messages.at(-1)
  const isVisible = usePageVisible()
  useEffect(() => {
    // Whoever is on the way to another message does not see the newest.
    if (isSeeking) return
    if (isVisible && isAtEnd && !hasNewer && newest !== undefined && onSeen !== undefined) onSeen(newest)
  }, [isSeeking, isVisible, isAtEnd, hasNewer, newest, onSeen])

  const look = useCallback(() => {
    const element = scroller.current
    if (element === null || list === undefined) return
    const { scrollTop: scrollOffset, scrollHeight, clientHeight: viewportSize } = element
    const left = scrollHeight - viewportSize - scrollOffset
    // What grows below leaves one at the end, and is followed; only who scrolls up leaves it.
    const isThere = left < nearEnd ? !hasNewer : !hasNewer && scrollOffset >= lastOffset.current && isFollowing.current
    isFollowing.current = isThere
    setAtEnd(isThere)
    lastOffset.current = scrollOffset
    cover()
    const ahead = viewportSize * aheadScreens
    // It is not asked for with each scroll again.
    if (list.getSnapshot().failed !== undefined) return
    if (hasOlder && scrollOffset < ahead) list.loadOlder().catch(() => {})
    if (hasNewer && left < ahead) list.loadNewer().catch(() => {})
  }, [list, hasOlder, hasNewer, isFollowing, lastOffset, cover])
  const isShown = rows.length > 0
  useEffect(() => {
    const element = scroller.current
    if (!isShown || element === null) return
    const onScroll = () => {
      raise()
      look()
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  }, [isShown, look, raise])
  // A list that does not fill the screen is never scrolled.
  useEffect(() => {
    if (rows.length > 0 && !hasFailed && (hasOlder || hasNewer || !isAtEnd)) look()
  }, [rows.length, hasOlder, hasNewer, hasFailed, isAtEnd, look])

  useEffect(() => {
    if (list === undefined || sought === undefined || !isLoaded) return
    const isThere = () => list.getSnapshot().messages.some(({ id }) => id === sought.id)
    if (isThere()) return
    const settle = () => setSettled(sought)
    list.loadAround(sought.id).then(() => {
      if (isThere()) return
      shown.current = sought
      settle()
    }, settle)
  }, [list, sought, isLoaded])
  // As often as rows are drawn: first it is loaded, then it is drawn.
  useLayoutEffect(() => {
    const [box, content] = [scroller.current, contentRef.current]
    if (sought === undefined || shown.current === sought || box === null || content === null) return
    const at = rows.findIndex((row) => row.is === 'message' && row.message.id === sought.id)
    const key = rows[at]?.key
    if (key === undefined) return
    isFollowing.current = false
    const row = content.querySelector<HTMLElement>(`[data-message-id="${CSS.escape(sought.id)}"]`)
    if (row === null) {
      show(at)
      return
    }
    shown.current = sought
    const { top, height } = row.getBoundingClientRect()
    box.scrollTop += top - box.getBoundingClientRect().top - Math.max(0, box.clientHeight - height) / 2
    if (mayTakeFocus()) row.focus({ preventScroll: true })
    setFocused(key)
    setSettled(sought)
    look()
  })

  const actionsOf = useCallback(
    (message: ShownMessage): MessageActions => {
      const isOwn = message.sender === me?.uid
      return {
        react: (reaction, isOn) => void client.live.react(message.id, reaction, isOn).catch(() => {}),
        ...(onQuote && { quote: () => onQuote(message) }),
        ...(onOpenThread && { openThread: () => onOpenThread(message) }),
        ...(isOwn && onEdit && { edit: () => onEdit(message) }),
        ...(isOwn && { delete: () => void client.live.delete(message.id).catch(() => {}) }),
      }
    },
    [client, me?.uid, onQuote, onEdit, onOpenThread],
  )

  const focusedAt = focused === undefined ? -1 : rows.findIndex(({ key }) => key === focused)
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (event.key === 'End') {
      event.preventDefault()
      void toNewest()
    }
    if (step === undefined || rows.length === 0) return
    event.preventDefault()
    const from = focusedAt === -1 ? rows.length : focusedAt
    const at = from + step
    const row = rows[at]
    if (row === undefined) return
    setFocused(row.key)
    show(at)
  }
  useLayoutEffect(() => {
    if (focused === undefined || !mayTakeFocus()) return
    const row = contentRef.current?.querySelector<HTMLElement>('[data-focused]')
    row?.focus({ preventScroll: true })
    row?.scrollIntoView({ block: 'nearest' })
  }, [focused, contentRef])
  const toNewest = async () => {
    try {
      if (hasNewer) await list?.loadNewest()
    } catch {
      return
    }
    setAtEnd(true)
    toEnd()
  }
  const again = async ({ currentTarget }: MouseEvent) => {
    try {
      await list?.loadAgain()
      // The button goes, and the keyboard stays with the messages.
      if (document.activeElement === currentTarget) scroller.current?.focus({ preventScroll: true })
    } catch {
      // It is said still.
    }
  }
  const problem = error !== undefined && (
    <>
      {isRemoval(error) ? texts.removed : texts.problem}{' '}
      {hasFailed && !isRemoval(error) && (
        <button type="button" onClick={again}>
          {texts.retry}
        </button>
      )}
    </>
  )

  if (!isLoaded && pending.length === 0) {
    return (
      <p className="parley-empty" role="status">
        {problem || texts.loading}
      </p>
    )
  }
  if (rows.length === 0) {
    return (
      <p className="parley-empty" role={error === undefined ? undefined : 'status'}>
        {problem || texts.noMessages}
      </p>
    )
  }
  const setSize = hasOlder || hasNewer || rows.length > mostCounted ? unknownSize : rows.length
  return (
    <>
      <div className="parley-messages">
        <div
          className="parley-scroller"
          ref={scroller}
          role="feed"
          aria-label={label}
          aria-busy={snapshot.isLoadingOlder}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keyboard
          tabIndex={0}
          onKeyDown={move}
        >
          <div className="parley-content" ref={contentRef}>
            <div className="parley-above" />
            <div>
              {rows.slice(from, until).map((row, n) => (
                <RowView
                  key={row.key}
                  row={row}
                  at={from + n}
                  setSize={setSize}
                  me={me?.uid}
                  locale={locale}
                  today={texts.today}
                  date={date}
                  isFocused={row.key === focused}
                  actionsOf={actionsOf}
                />
              ))}
            </div>
            <div className="parley-below" />
            <div className="parley-shield" ref={shieldRef} />
          </div>
        </div>
        {!isAtEnd && (
          <button type="button" className="parley-to-newest" aria-label={texts.toNewest} onClick={toNewest}>
            <Icon name="down" />
          </button>
        )}
      </div>
      {problem && (
        <p className="parley-rest" role="status">
          {problem}
        </p>
      )}
    </>
  )
}

interface RowViewProps {
  readonly row: Row
  readonly at: number
  /** How many rows there are in all, as screen readers say it. */
  readonly setSize: number
  readonly me: string | undefined
  readonly locale: string | undefined
  readonly today: string
  /** Which day is today. */
  readonly date: string
  readonly isFocused: boolean
  readonly actionsOf: (message: ShownMessage) => MessageActions
}

/** With each message that comes, the other rows stay as they are. */
const RowView = memo(function RowView(props: RowViewProps) {
  const { row, at, setSize, me, locale, today, date, isFocused, actionsOf } = props
  const message = row.is === 'message' ? row.message : undefined
  // What can be done depends on the message alone, so that nothing else draws it again.
  const actions = useMemo(() => message && actionsOf(message), [message, actionsOf])
  return (
    <article
      className="parley-row"
      tabIndex={-1}
      data-focused={isFocused || undefined}
      aria-posinset={at + 1}
      aria-setsize={setSize}
      data-message-id={message?.id}
    >
      {row.is === 'pending' ? (
        <PendingItem pending={row.pending} />
      ) : (
        actions !== undefined && (
          <>
            {row.isDay && <h3 className="parley-day">{dayOf(row.message.sentAt, locale, today, date)}</h3>}
            <MessageItem
              message={row.message}
              isOwn={row.message.sender === me}
              isContinued={row.isContinued}
              actions={actions}
            />
          </>
        )
      )}
    </article>
  )
})

/** Whether the user is no member of the group, or none any more. */
function isRemoval(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'ERR_GROUP_NOT_JOINED'
}

/** A row that is drawn anew does not take the focus from what is being written. */
function mayTakeFocus(): boolean {
  const { activeElement } = document
  return activeElement === null || activeElement === document.body || activeElement.closest('[role="feed"]') !== null
}

interface Known {
  readonly messages: readonly ShownMessage[]
  readonly rows: readonly Row[]
}

/** Messages, and those that are not confirmed after all others. What stands where it stood is taken over. */
function rowsOf(messages: readonly ShownMessage[], pending: readonly PendingMessage[], known: Known): Row[] {
  const start = sameStart(known.messages, messages)
  const end = messages.length - sameEnd(known.messages, messages, start)
  const rows: Row[] = known.rows.slice(0, start)
  // How a row stands depends on the one before, too.
  for (let at = start; at < Math.min(messages.length, end + 1); at++)
    rows.push(rowOf(messages[at] as ShownMessage, messages[at - 1]))
  const before = known.messages.length - messages.length
  for (let at = end + 1; at < messages.length; at++) rows.push(known.rows[at + before] as Row)
  for (const one of pending) rows.push({ is: 'pending', key: one.muid, pending: one })
  return rows
}

/** How many messages both begin with. */
function sameStart(before: readonly ShownMessage[], now: readonly ShownMessage[]): number {
  let count = 0
  while (count < before.length && before[count] === now[count]) count++
  return count
}

/** How many messages both end with, apart from those that they begin with. */
function sameEnd(before: readonly ShownMessage[], now: readonly ShownMessage[], start: number): number {
  const most = Math.min(before.length, now.length) - start
  let count = 0
  while (count < most && before[before.length - 1 - count] === now[now.length - 1 - count]) count++
  return count
}

/** Made once: with each message that comes, all others stay as they are. */
const made = new WeakMap<ShownMessage, { readonly before: ShownMessage | undefined; readonly row: Row }>()

function rowOf(message: ShownMessage, before: ShownMessage | undefined): Row {
  const known = made.get(message)
  if (known !== undefined && known.before === before) return known.row
  const isDay = before === undefined || dateOf(before) !== dateOf(message)
  const isContinued =
    !isDay &&
    before.category !== 'action' &&
    before.sender === message.sender &&
    message.sentAt - before.sentAt < together
  // By its muid it stays the same row when it is confirmed.
  const row: Row = { is: 'message', key: message.muid ?? message.id, message, isContinued, isDay }
  made.set(message, { before, row })
  return row
}

function dateOf({ sentAt }: ShownMessage): string {
  return new Date(sentAt * 1000).toDateString()
}
