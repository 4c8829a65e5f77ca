import type { MessageList as Messages, PendingMessage, ShownMessage } from '@parley/client'
import {
  type KeyboardEvent,
  memo,
  type ReactElement,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Virtualizer, type VirtualizerHandle } from 'virtua'
import { useParleyContext } from './context.tsx'
import { dayOf } from './format.ts'
import { useMe, useMessages, usePageVisible } from './hooks.ts'
import { Icon } from './Icon.tsx'
import { MessageItem, PendingItem } from './MessageItem.tsx'
import type { MessageActions } from './props.ts'
import { useTail } from './tail.ts'

export interface MessageListProps {
  /** A conversation or a thread that is open; undefined while it is being opened. */
  readonly list: Messages | undefined
  /** What a screen reader says of the list. */
  readonly label: string
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
export function MessageList({ list, label, onSeen, onQuote, onEdit, onOpenThread }: MessageListProps) {
  const { client, texts, locale } = useParleyContext()
  const me = useMe()
  const snapshot = useMessages(list)
  const { messages, pending, hasOlder, hasNewer, isLoaded, error } = snapshot
  const known = useRef<Known>({ messages: [], rows: [] })
  const rows = useMemo(() => {
    const made = rowsOf(messages, pending, known.current)
    known.current = { messages, rows: made }
    return made
  }, [messages, pending])
  const scroller = useRef<HTMLDivElement>(null)
  const view = useRef<VirtualizerHandle>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const [focused, setFocused] = useState<string>()

  // Rows that came before the first one push the others down, unless the list is told so.
  const before = useRef<{ list: Messages | undefined; first: string | undefined; last: string | undefined }>(undefined)
  const first = messages[0]?.id
  const last = rows.at(-1)?.key
  const shown = before.current
  const isSameList = shown?.list === list
  const isPrepended = isSameList && shown?.first !== undefined && first !== shown.first
  const { head, tail, hidden, tailRef, isFollowing, lastOffset, follow, reveal } = useTail({
    ...{ list, rows, isAtEnd, hasNewer, isPrepended, scroller },
  })
  useLayoutEffect(() => {
    const isNew = before.current?.list !== list || before.current?.last === undefined
    const hasGrown = before.current?.last !== last
    before.current = { list, first, last }
    // What stands in the tail is followed by itself.
    if (rows.length === 0 || tail.length > 0) return
    if (isNew) isFollowing.current = true
    if (isNew || (hasGrown && isAtEnd)) follow()
  }, [list, first, last, rows.length, tail.length, isAtEnd, isFollowing, follow])

  const newest = messages.at(-1)
  const isVisible = usePageVisible()
  useEffect(() => {
    if (isVisible && isAtEnd && !hasNewer && newest !== undefined && onSeen !== undefined) onSeen(newest)
  }, [isVisible, isAtEnd, hasNewer, newest, onSeen])

  const look = useCallback(() => {
    const element = scroller.current
    if (element === null || list === undefined) return
    const { scrollTop: scrollOffset, scrollHeight, clientHeight: viewportSize } = element
    const left = scrollHeight - viewportSize - scrollOffset
    if (hidden > 0) {
      if (left < viewportSize) reveal()
      lastOffset.current = scrollOffset
      return
    }
    // What grows below leaves one at the end, and is followed; only who scrolls up leaves it.
    const isThere = left < nearEnd ? !hasNewer : !hasNewer && scrollOffset >= lastOffset.current && isFollowing.current
    isFollowing.current = isThere
    setAtEnd(isThere)
    lastOffset.current = scrollOffset
    const ahead = viewportSize * aheadScreens
    if (hasOlder && scrollOffset < ahead) list.loadOlder().catch(() => {})
    if (hasNewer && left < ahead) list.loadNewer().catch(() => {})
  }, [list, hasOlder, hasNewer, hidden, isFollowing, lastOffset, reveal])
  // A list that does not fill the screen is never scrolled.
  useEffect(() => {
    if (rows.length > 0 && (hasOlder || hasNewer || !isAtEnd)) look()
  }, [rows.length, hasOlder, hasNewer, isAtEnd, look])

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
    if (at < head.length) view.current?.scrollToIndex(at, { align: 'nearest' })
    else tailRef.current?.children[at - head.length]?.scrollIntoView({ block: 'nearest' })
  }
  const toNewest = async () => {
    if (hasNewer) await list?.loadNewest()
    isFollowing.current = true
    setAtEnd(true)
    follow()
  }

  if (!isLoaded && pending.length === 0) {
    return (
      <p className="parley-empty" role="status">
        {error === undefined ? texts.loading : texts.problem}
      </p>
    )
  }
  if (rows.length === 0) return <p className="parley-empty">{texts.noMessages}</p>
  const setSize = hasOlder || hasNewer || rows.length > mostCounted ? unknownSize : rows.length
  const draw = (row: Row, at: number) => (
    <RowView
      key={row.key}
      row={row}
      at={at}
      setSize={setSize}
      me={me?.uid}
      locale={locale}
      today={texts.today}
      isFocused={row.key === focused}
      actionsOf={actionsOf}
    />
  )
  return (
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
        <div className="parley-spacer" />
        <Head
          view={view}
          scroller={scroller}
          rows={head}
          isPrepended={isPrepended}
          focusedAt={focusedAt < head.length ? focusedAt : -1}
          onScroll={look}
          onResize={follow}
          drawn={[draw, setSize, me?.uid, locale, texts.today, focused, actionsOf]}
        />
        <div className="parley-tail" ref={tailRef}>
          {tail.map((row, n) => draw(row, head.length + n))}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className="parley-to-newest" aria-label={texts.toNewest} onClick={toNewest}>
          <Icon name="down" />
        </button>
      )}
    </div>
  )
}

interface HeadProps {
  readonly view: RefObject<VirtualizerHandle | null>
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly rows: readonly Row[]
  readonly isPrepended: boolean
  readonly focusedAt: number
  readonly onScroll: () => void
  /** Rows were measured, and stand where they belong. */
  readonly onResize: () => void
  /** How a row is drawn, and all that this depends on. */
  readonly drawn: readonly [draw: (row: Row, at: number) => ReactElement, ...unknown[]]
}

/** The rows of which only those that are near are drawn. What comes into the tail does not concern it. */
const Head = memo(
  function Head({ view, scroller, rows, isPrepended, focusedAt, onScroll, onResize, drawn: [draw] }: HeadProps) {
    return (
      <Virtualizer
        ref={view}
        scrollRef={scroller}
        data={rows}
        shift={isPrepended}
        keepMounted={focusedAt === -1 ? [] : [focusedAt]}
        onScroll={onScroll}
        onResize={onResize}
      >
        {draw}
      </Virtualizer>
    )
  },
  ({ drawn: before, ...one }, { drawn: now, ...other }) =>
    before.every((value, n) => n === 0 || value === now[n]) &&
    Object.keys(one).every((name) => one[name as keyof typeof one] === other[name as keyof typeof other]),
)

interface RowViewProps {
  readonly row: Row
  readonly at: number
  /** How many rows there are in all, as screen readers say it. */
  readonly setSize: number
  readonly me: string | undefined
  readonly locale: string | undefined
  readonly today: string
  readonly isFocused: boolean
  readonly actionsOf: (message: ShownMessage) => MessageActions
}

/** With each message that comes, the other rows stay as they are. */
const RowView = memo(function RowView(props: RowViewProps) {
  const { row, at, setSize, me, locale, today, isFocused, actionsOf } = props
  const element = useRef<HTMLElement>(null)
  useEffect(() => {
    const row = element.current
    if (isFocused && row !== null && mayTakeFocus()) row.focus({ preventScroll: true })
  }, [isFocused])
  const message = row.is === 'message' ? row.message : undefined
  // What can be done depends on the message alone, so that nothing else draws it again.
  const actions = useMemo(() => message && actionsOf(message), [message, actionsOf])
  return (
    <article
      className="parley-row"
      ref={element}
      tabIndex={-1}
      aria-posinset={at + 1}
      aria-setsize={setSize}
      data-message-id={message?.id}
    >
      {row.is === 'pending' ? (
        <PendingItem pending={row.pending} />
      ) : (
        actions !== undefined && (
          <>
            {row.isDay && <h3 className="parley-day">{dayOf(row.message.sentAt, locale, today)}</h3>}
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
  const rows: Row[] = known.rows.slice(0, sameStart(known.messages, messages))
  for (let at = rows.length; at < messages.length; at++)
    rows.push(rowOf(messages[at] as ShownMessage, messages[at - 1]))
  for (const one of pending) rows.push({ is: 'pending', key: one.muid, pending: one })
  return rows
}

/** How many messages both begin with. */
function sameStart(before: readonly ShownMessage[], now: readonly ShownMessage[]): number {
  let count = 0
  while (count < before.length && before[count] === now[count]) count++
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
