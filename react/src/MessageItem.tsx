import type { Message, PendingMessage, ShownMessage } from '@parley/client'
import { type KeyboardEvent, memo, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { Avatar } from './Avatar.tsx'
import { Boundary } from './Boundary.tsx'
import { eventOf, previewOf } from './ConversationList.tsx'
import { useParleyContext } from './context.tsx'
import { attachmentsOf, entitiesOf, piecesOf, senderName, sizeOf, timeOf, webAddressOf } from './format.ts'
import { Icon } from './Icon.tsx'
import type { AttachmentProps, MessageActions, MessageProps } from './props.ts'

const reactions = ['👍', '❤️', '😂', '😮', '😢', '🎉']

/** A message with what can be done with it. */
export const MessageItem = memo(function MessageItem(props: MessageProps) {
  const { texts } = useParleyContext()
  return (
    <Boundary of={props.message} instead={<p className="parley-event">{texts.notShown}</p>}>
      <Shown {...props} />
    </Boundary>
  )
})

function Shown(props: MessageProps) {
  const { components, texts, locale } = useParleyContext()
  const { message, isOwn, isContinued, actions } = props
  if (message.category === 'action') return <p className="parley-event">{eventOf(message, texts)}</p>
  if (components.Message !== undefined) return <components.Message {...props} />
  const isDeleted = message.deletedAt !== undefined
  return (
    <div className="parley-message" data-own={isOwn || undefined} data-continued={isContinued || undefined}>
      {!isOwn && !isContinued && <Avatar name={senderName(message)} src={entitiesOf(message).sender?.entity?.avatar} />}
      <div className="parley-bubble">
        <span className="parley-sender" dir="auto">
          {isOwn ? texts.you : senderName(message)}
        </span>
        {message.quotedMessage !== undefined && <Quoted message={message.quotedMessage as unknown as Message} />}
        {isDeleted ? <em className="parley-deleted">{texts.deleted}</em> : <Content message={message} />}
        <span className="parley-meta">
          {message.editedAt !== undefined && !isDeleted && <span>{texts.edited}</span>}
          <time dateTime={new Date(message.sentAt * 1000).toISOString()}>{timeOf(message.sentAt, locale)}</time>
          {isOwn && !isDeleted && <Receipt message={message} />}
        </span>
        {!isDeleted && <Reactions message={message} react={actions.react} />}
        {message.replyCount !== undefined && message.replyCount > 0 && actions.openThread !== undefined && (
          <button type="button" className="parley-replies" onClick={actions.openThread}>
            {texts.replies(message.replyCount)}
          </button>
        )}
      </div>
      {!isDeleted && <Actions actions={actions} />}
    </div>
  )
}

function Content({ message }: { readonly message: Message }) {
  const { components } = useParleyContext()
  const Attachment = components.Attachment ?? DefaultAttachment
  return (
    <>
      {attachmentsOf(message).map((attachment) => (
        <Attachment key={attachment.url} attachment={attachment} />
      ))}
      <span className="parley-text" dir="auto">
        {piecesOf(message).map((piece, n) => {
          if (piece.is === 'words') return piece.text
          // biome-ignore-start lint/suspicious/noArrayIndexKey: pieces of a text have no other name
          if (piece.is === 'mention') return <b key={n}>@{piece.name}</b>
          return (
            <a key={n} href={piece.href} target="_blank" rel="noreferrer noopener">
              {piece.href}
            </a>
          )
          // biome-ignore-end lint/suspicious/noArrayIndexKey: pieces of a text have no other name
        })}
      </span>
    </>
  )
}

/** Pictures have a box of a fixed size, so that nothing moves when they come. */
function DefaultAttachment({ attachment: { url: written, name, mimeType = '', size } }: AttachmentProps) {
  const { texts } = useParleyContext()
  const shown = name ?? texts.file
  const url = webAddressOf(written)
  if (url === undefined) return null
  if (mimeType.startsWith('image/')) {
    return (
      <a className="parley-picture" href={url} target="_blank" rel="noreferrer noopener">
        <img src={url} alt={shown} loading="lazy" />
      </a>
    )
  }
  // biome-ignore-start lint/a11y/useMediaCaption: users send these, and there are no captions
  if (mimeType.startsWith('video/')) return <video className="parley-picture" src={url} controls preload="metadata" />
  if (mimeType.startsWith('audio/')) return <audio src={url} controls preload="metadata" />
  // biome-ignore-end lint/a11y/useMediaCaption: users send these, and there are no captions
  return (
    <a className="parley-file" href={url} download={shown} target="_blank" rel="noreferrer noopener">
      <Icon name="file" /> <bdi>{shown}</bdi> {size !== undefined && <small>{sizeOf(size)}</small>}
    </a>
  )
}

function Quoted({ message }: { readonly message: Message }) {
  const { texts } = useParleyContext()
  return (
    <blockquote className="parley-quoted" dir="auto">
      <b>{senderName(message)}</b> {previewOf(message, texts)}
    </blockquote>
  )
}

function Receipt({ message }: { readonly message: ShownMessage }) {
  const { texts } = useParleyContext()
  const [sign, said] =
    message.readAt !== undefined
      ? (['delivered', texts.read] as const)
      : message.deliveredAt !== undefined
        ? (['delivered', texts.delivered] as const)
        : (['sent', texts.sent] as const)
  return (
    <span
      className="parley-receipt"
      data-read={message.readAt !== undefined || undefined}
      role="img"
      aria-label={said}
      title={said}
    >
      <Icon name={sign} />
    </span>
  )
}

function Reactions({ message, react }: { readonly message: Message; readonly react: MessageActions['react'] }) {
  const given = message.reactions ?? []
  if (given.length === 0) return null
  return (
    <span className="parley-reactions">
      {given.map(({ reaction, count, reactedByMe = false }) => (
        <button type="button" key={reaction} aria-pressed={reactedByMe} onClick={() => react(reaction, !reactedByMe)}>
          {reaction} {count}
        </button>
      ))}
    </span>
  )
}

/** Opens the menu. Its sign is drawn by the style: there is one with each message. */
function Actions({ actions }: { readonly actions: MessageActions }) {
  const { texts } = useParleyContext()
  const [isOpen, setOpen] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  return (
    <>
      <button
        type="button"
        ref={opener}
        className="parley-actions"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={texts.actions}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && <Menu actions={actions} opener={opener} onClose={() => setOpen(false)} />}
    </>
  )
}

interface MenuProps {
  readonly actions: MessageActions
  readonly opener: RefObject<HTMLButtonElement | null>
  readonly onClose: () => void
}

/** A menu above everything else, with the focus on its first item. It closes by Escape, and by a click elsewhere. */
function Menu({ actions, opener, onClose }: MenuProps) {
  const { texts } = useParleyContext()
  const menu = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const [shown, beside] = [menu.current, opener.current]
    if (shown === null || beside === null) return
    shown.showPopover()
    const put = () => putBeside(shown, beside)
    put()
    shown.querySelector('button')?.focus({ preventScroll: true })
    // It goes along when a message comes, and what stands above moves.
    document.addEventListener('scroll', put, { capture: true })
    return () => document.removeEventListener('scroll', put, { capture: true })
  }, [opener])
  const close = () => {
    onClose()
    opener.current?.focus()
  }
  const does = (act: () => void) => () => {
    close()
    act()
  }
  const move = (step: number) => {
    const items = [...(menu.current?.querySelectorAll('button') ?? [])]
    const at = items.indexOf(document.activeElement as HTMLButtonElement)
    items[(at + step + items.length) % items.length]?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation()
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key]
    if (event.key === 'Escape' || event.key === 'Tab') close()
    else if (step !== undefined) move(step)
    else return
    event.preventDefault()
  }
  return (
    <div
      className="parley-menu"
      role="menu"
      popover="manual"
      tabIndex={-1}
      ref={menu}
      onKeyDown={onKeyDown}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (relatedTarget !== opener.current && !currentTarget.contains(relatedTarget)) onClose()
      }}
    >
      <span className="parley-menu-reactions">
        {reactions.map((reaction) => (
          <button
            type="button"
            role="menuitem"
            key={reaction}
            aria-label={`${texts.react} ${reaction}`}
            onClick={does(() => actions.react(reaction, true))}
          >
            {reaction}
          </button>
        ))}
      </span>
      <MenuItem text={texts.quote} act={actions.quote} does={does} />
      <MenuItem text={texts.reply} act={actions.openThread} does={does} />
      <MenuItem text={texts.edit} act={actions.edit} does={does} />
      <MenuItem text={texts.delete} act={actions.delete} does={does} />
    </div>
  )
}

/** Below the opener, or above it where there is no room; within the window. */
function putBeside(menu: HTMLElement, opener: HTMLElement): void {
  const beside = opener.getBoundingClientRect()
  const { width, height } = menu.getBoundingClientRect()
  const fitsBelow = beside.bottom + height <= window.innerHeight
  const left = beside.left + width <= window.innerWidth ? beside.left : beside.right - width
  menu.style.insetBlockStart = `${Math.max(0, fitsBelow ? beside.bottom : beside.top - height)}px`
  menu.style.left = `${Math.max(0, left)}px`
}

interface MenuItemProps {
  readonly text: string
  readonly act: (() => void) | undefined
  readonly does: (act: () => void) => () => void
}

function MenuItem({ text, act, does }: MenuItemProps) {
  if (act === undefined) return null
  return (
    <button type="button" role="menuitem" onClick={does(act)}>
      {text}
    </button>
  )
}

/** A message that is not confirmed yet. */
export function PendingItem({ pending }: { readonly pending: PendingMessage }) {
  const { client, texts } = useParleyContext()
  const { content, status, progress, muid } = pending
  return (
    <div className="parley-message" data-own data-pending={status}>
      <div className="parley-bubble">
        {content.files?.map((file) => (
          <span className="parley-file" key={file.name}>
            <Icon name="file" /> <bdi>{file.name}</bdi> <small>{sizeOf(file.size)}</small>
          </span>
        ))}
        <span className="parley-text" dir="auto">
          {content.text ?? (typeof content.data?.text === 'string' ? content.data.text : '')}
        </span>
        {progress !== undefined && status !== 'failed' && <progress value={progress} aria-label={texts.sending} />}
        <span className="parley-meta">
          {status === 'failed' ? (
            <>
              <span role="alert">{texts.failed}</span>
              <button type="button" onClick={() => client.live.retry(muid)}>
                {texts.retry}
              </button>
              <button type="button" onClick={() => client.live.discard(muid)}>
                {texts.discard}
              </button>
            </>
          ) : (
            texts.sending
          )}
        </span>
      </div>
    </div>
  )
}
