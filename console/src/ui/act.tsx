import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useCallback, useRef, useState, useSyncExternalStore } from 'react'
import { notify, notifyError } from './notices.tsx'

interface Question {
  readonly title: string
  readonly text: string
  /** What the button says. */
  readonly label: string
  /** It is asked to be typed, so that nobody does it in passing. */
  readonly typed?: string
  /** Asks for a text, such as a reason. */
  readonly asks?: { readonly label: string; readonly minLength?: number }
}

let open: { readonly question: Question; readonly answer: (said: string | undefined) => void } | undefined
const listeners = new Set<() => void>()

function show(next: typeof open): void {
  open = next
  for (const listener of listeners) listener()
}

/** Asks before something is done. @returns what was typed, '' where nothing was asked for; undefined if they think better of it */
export function ask(question: Question): Promise<string | undefined> {
  return new Promise((resolve) => {
    open?.answer(undefined)
    show({
      question,
      answer: (said) => {
        show(undefined)
        resolve(said)
      },
    })
  })
}

/** Where questions appear: once in the page. */
export function Questions() {
  const current = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => open,
  )
  if (current === undefined) return null
  return <QuestionDialog key={current.question.title} {...current} />
}

function QuestionDialog({ question, answer }: NonNullable<typeof open>) {
  const [text, setText] = useState('')
  const { title, label, typed, asks } = question
  const isReady =
    (typed === undefined || text === typed) && (asks === undefined || text.trim().length >= (asks.minLength ?? 1))
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady) answer(text.trim())
  }
  const inputLabel = typed === undefined ? asks?.label : `Type ${typed} to go on`
  return (
    <Modal opened onClose={() => answer(undefined)} title={title}>
      <Stack component="form" onSubmit={onSubmit}>
        <Text size="sm">{question.text}</Text>
        {inputLabel !== undefined && (
          <TextInput
            label={inputLabel}
            data-autofocus
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => answer(undefined)}>
            Cancel
          </Button>
          <Button type="submit" {...(asks === undefined && { color: 'red.9' })} disabled={!isReady}>
            {label}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

interface Deed<T> {
  readonly run: (said: string) => Promise<T>
  /** What is said once it is done. */
  readonly done: string
  /** Lists and pages that it changes. */
  readonly refresh?: readonly QueryKey[]
  readonly question?: Question
  /** To which of several it is done, where neither `done` nor the question names it: what is done to another one is another deed. */
  readonly of?: string
}

/** Does something, says so, and loads again what it changes: for forms, which show themselves what goes wrong. */
export function useSave(): <T>(deed: Omit<Deed<T>, 'question' | 'of'>) => Promise<T> {
  const queries = useQueryClient()
  return useCallback(
    async ({ run, done, refresh = [] }) => {
      const readAgain = () => Promise.all(refresh.map((queryKey) => queries.invalidateQueries({ queryKey })))
      const result = await run('').catch((error: unknown) => {
        // Of several, some may have been done.
        void readAgain()
        throw error
      })
      notify(done)
      await readAgain()
      return result
    },
    [queries],
  )
}

/**
 * Does something from a button: asks before, and says how it went. A second click while it is being done does nothing.
 * @returns undefined where it was not done
 */
export function useAct(): <T>(deed: Deed<T>) => Promise<T | undefined> {
  const save = useSave()
  const underWay = useRef(new Set<string>())
  return useCallback(
    async ({ run, question, of, ...deed }) => {
      const said = question === undefined ? '' : await ask(question)
      const name = JSON.stringify([deed.done, question?.title, question?.text, of])
      if (said === undefined || underWay.current.has(name)) return undefined
      underWay.current.add(name)
      const runOnce = async () => {
        try {
          return await run(said)
        } finally {
          underWay.current.delete(name)
        }
      }
      try {
        return await save({ ...deed, run: runOnce })
      } catch (error) {
        notifyError(error)
        return undefined
      }
    },
    [save],
  )
}
