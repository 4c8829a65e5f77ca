import type { OutgoingMessage, ShownMessage, User } from '@parley/client'
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { previewOf } from './ConversationList.tsx'
import { useClientKey, useParleyContext } from './context.tsx'
import { senderName, sizeOf, textOf } from './format.ts'
import { useMembers, useUsers } from './hooks.ts'
import { Icon } from './Icon.tsx'

export interface ComposerProps {
  /** What stands in it while it is empty, such as whom one writes to. */
  readonly label: string
  readonly onSend: (message: OutgoingMessage) => void
  /** Called with each key, and with `false` when the text is empty again. */
  readonly onTyping?: (isTyping: boolean) => void
  /** Whose members can be mentioned; without a group, all users. */
  readonly guid?: string | undefined
  readonly quoted?: ShownMessage | undefined
  readonly edited?: ShownMessage | undefined
  /** Neither quotes nor edits any more. */
  readonly onCancel?: () => void
}

interface Draft {
  readonly text: string
  readonly files: readonly File[]
  readonly mentions: readonly Mention[]
}

interface Mention {
  readonly uid: string
  readonly name: string
}

/** Writes messages: a plain text area, with mentions, files, quotes and edits. Enter sends, Shift+Enter begins a line. */
export function Composer(props: ComposerProps) {
  return <ComposerOfUser key={useClientKey()} {...props} />
}

function ComposerOfUser({ label, onSend, onTyping, guid, quoted, edited, onCancel }: ComposerProps) {
  const { client, texts } = useParleyContext()
  const [text, setText] = useState('')
  const [files, setFiles] = useState<readonly File[]>([])
  const [mentions, setMentions] = useState<readonly Mention[]>([])
  const [caret, setCaret] = useState(0)
  const [chosen, setChosen] = useState(0)
  const [isDismissed, setDismissed] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const listId = useId()
  const [isSaving, setSaving] = useState(false)
  const [problem, setProblem] = useState<string>()

  /** What was being written when an edit began: it stands there again when the edit is over. */
  const draft = useRef<Draft>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: as often as something else is edited or quoted
  useEffect(() => {
    setProblem(undefined)
    if (edited !== undefined) {
      draft.current ??= { text, files, mentions }
      show({ text: textOf(edited), files: [], mentions: [] })
    } else if (draft.current !== undefined) {
      show(draft.current)
      draft.current = undefined
      onTyping?.(false)
    }
    if (edited !== undefined || quoted !== undefined) area.current?.focus()
  }, [edited?.id, quoted])
  /** Whom to tell of an edit: not whoever edits something else by now. */
  const editedNow = useRef(edited)
  editedNow.current = edited

  const about = edited ?? quoted
  const sought = /(?:^|\s)@([^\s@]{0,30})$/.exec(text.slice(0, caret))?.[1]
  const candidates = useCandidates(isDismissed ? undefined : sought, guid)
  const isChoosing = candidates.length > 0

  const show = (shown: Draft) => {
    setText(shown.text)
    setFiles(shown.files)
    setMentions(shown.mentions)
    setCaret(0)
  }
  const change = (value: string, at: number) => {
    setText(value)
    setCaret(at)
    setDismissed(false)
    setChosen(0)
    onTyping?.(value !== '')
  }
  const mention = (user: User) => {
    const start = caret - (sought?.length ?? 0) - 1
    const value = `${text.slice(0, start)}@${user.name} ${text.slice(caret)}`
    setMentions([...mentions.filter(({ uid }) => uid !== user.uid), { uid: user.uid, name: user.name }])
    change(value, start + user.name.length + 2)
    area.current?.focus()
  }
  const send = () => {
    const said = withMentions(text.trim(), mentions)
    if (said === '' && files.length === 0) return
    if (edited !== undefined) return void save(edited, said)
    onSend({
      ...(said !== '' && { text: said }),
      ...(files.length > 0 && { files }),
      ...(quoted !== undefined && { quotedMessageId: quoted.id }),
    })
    setFiles([])
    setMentions([])
    change('', 0)
    onCancel?.()
  }
  /** What the service refuses stays as it was written, with what is said of it. */
  const save = async (message: ShownMessage, said: string) => {
    if (isSaving) return
    setSaving(true)
    setProblem(undefined)
    const failure = await client.live.edit(message.id, { text: said }).then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    setSaving(false)
    if (editedNow.current?.id !== message.id) return
    if (failure === undefined) onCancel?.()
    else setProblem(failure.message)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Enter that ends the input of a Chinese or Japanese word is none that sends. Safari says so by the code alone.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return
    if (isChoosing) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (step !== undefined) {
        event.preventDefault()
        setChosen((chosen + step + candidates.length) % candidates.length)
        return
      }
      const user = candidates[chosen]
      if ((event.key === 'Enter' || event.key === 'Tab') && user !== undefined) {
        event.preventDefault()
        mention(user)
        return
      }
    }
    if (event.key === 'Escape') {
      if (isChoosing) setDismissed(true)
      else if (about !== undefined) onCancel?.()
      // Whatever is around it may be closed by the key.
      else return
      event.preventDefault()
      return
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      send()
    }
  }
  const add = (added: Iterable<File>) => {
    if (edited === undefined) setFiles([...files, ...added])
  }
  const onPaste = (event: ClipboardEvent) => add(event.clipboardData.files)
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    add(event.dataTransfer.files)
  }
  return (
    <form
      className="parley-composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
    >
      {about !== undefined && (
        <p className="parley-about">
          <b>{edited === undefined ? texts.quoting(senderName(about)) : texts.editing}</b>{' '}
          <span dir="auto">{previewOf(about, texts)}</span>
          <button type="button" aria-label={texts.cancel} onClick={() => onCancel?.()}>
            <Icon name="close" />
          </button>
        </p>
      )}
      {problem !== undefined && (
        <p className="parley-rest" role="alert">
          {problem}
        </p>
      )}
      {files.length > 0 && (
        <ul className="parley-files">
          {files.map((file) => (
            <li key={`${file.name} ${file.size}`}>
              <bdi>{file.name}</bdi> <small>{sizeOf(file.size)}</small>
              <button
                type="button"
                aria-label={texts.removeFile(file.name)}
                onClick={() => setFiles(files.filter((other) => other !== file))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {isChoosing && (
        <div className="parley-candidates" role="listbox" id={listId} aria-label={texts.members}>
          {candidates.map((user, n) => (
            <button
              type="button"
              role="option"
              tabIndex={-1}
              key={user.uid}
              id={`${listId}-${n}`}
              aria-selected={n === chosen}
              onMouseDown={(event) => {
                event.preventDefault()
                mention(user)
              }}
            >
              <bdi>{user.name}</bdi>
            </button>
          ))}
        </div>
      )}
      <div className="parley-line">
        <button
          type="button"
          className="parley-icon"
          aria-label={texts.attach}
          disabled={edited !== undefined}
          onClick={() => picker.current?.click()}
        >
          <Icon name="attach" />
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            add(event.target.files ?? [])
            event.target.value = ''
          }}
        />
        <textarea
          ref={area}
          rows={1}
          dir="auto"
          value={text}
          placeholder={label}
          aria-label={label}
          aria-controls={isChoosing ? listId : undefined}
          aria-activedescendant={isChoosing ? `${listId}-${chosen}` : undefined}
          aria-autocomplete="list"
          onChange={(event) => change(event.target.value, event.target.selectionStart)}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <button type="submit" className="parley-send" disabled={isSaving || (text.trim() === '' && files.length === 0)}>
          {texts.send}
        </button>
      </div>
    </form>
  )
}

/** Who can be mentioned, by what was written behind an @; nobody where nothing was. */
function useCandidates(sought: string | undefined, guid: string | undefined): readonly User[] {
  const isAsked = sought !== undefined
  const { members } = useMembers(isAsked ? guid : undefined)
  const { found } = useUsers(sought ?? '', isAsked && guid === undefined)
  if (!isAsked) return []
  const start = sought.toLowerCase()
  const users = guid === undefined ? (found ?? []) : members
  return users.filter((user) => user.name.toLowerCase().includes(start) || user.uid.startsWith(start)).slice(0, 6)
}

/** Names of those who were mentioned become mentions: `@Bob Moran` is `<@uid:bob>`. The longest names first. */
function withMentions(text: string, mentions: readonly Mention[]): string {
  return [...mentions]
    .sort((a, b) => b.name.length - a.name.length)
    .reduce((said, { uid, name }) => said.replaceAll(`@${name}`, `<@uid:${uid}>`), text)
}
