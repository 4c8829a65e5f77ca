import { Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { useAddress } from './address.ts'
import { Loaded } from './states.tsx'

/** What is opened over a page, and how to open and close it. */
export interface Opened {
  readonly id: string | undefined
  open(id: string): void
  close(): void
}

/**
 * One thing that is opened over a page, such as a row of its list. Its ID stands in the address: a link shows it to a colleague, a
 * reload keeps it, and Back closes it.
 * @param name of the ID in the address
 */
export function useOpened(name: string): Opened {
  const [address, change] = useAddress()
  const navigate = useNavigate()
  const { history } = useRouter()
  const { state } = useLocation()
  const id = address[name] || undefined
  const isClosing = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is over once the address has changed
  useEffect(() => {
    isClosing.current = false
  }, [id])
  return {
    id,
    open(id) {
      const search = (before: Record<string, unknown>) => ({ ...before, [name]: id })
      void navigate({ to: '.', search: search as never, state: { isOpened: true } as never })
    },
    close() {
      if (isClosing.current) return
      isClosing.current = true
      // Who followed a link to it has no page before it to go back to.
      if ('isOpened' in state) history.back()
      else change({ [name]: undefined })
    },
  }
}

/** A drawer with what is opened over a page. It is asked for by its ID: it need not be among the rows that were read. */
export function OpenedDrawer<T>(props: {
  readonly of: Opened
  readonly title: string | ((data: T | undefined) => string)
  readonly queryKey: readonly unknown[]
  readonly ask: (id: string) => Promise<T>
  /** What a list has of it: shown until it is read. */
  readonly known?: T | undefined
  readonly refetchInterval?: (data: T | undefined) => number | false
  readonly children: (data: T) => ReactNode
}) {
  const { of, title, queryKey, ask, known, refetchInterval, children } = props
  const { id, close } = of
  const query = useQuery<T>({
    queryKey: [...queryKey, id],
    queryFn: () => ask(id ?? ''),
    enabled: id !== undefined,
    ...(known !== undefined && { placeholderData: known as never }),
    ...(refetchInterval !== undefined && { refetchInterval: ({ state }) => refetchInterval(state.data) }),
  })
  return (
    <Drawer
      opened={id !== undefined}
      onClose={close}
      title={typeof title === 'string' ? title : title(query.data)}
      position="right"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {id !== undefined && <Loaded query={query}>{children}</Loaded>}
    </Drawer>
  )
}
