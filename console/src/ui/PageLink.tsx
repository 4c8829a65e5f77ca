import { useRouter } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, MouseEvent } from 'react'

/**
 * A link to a page of the console, where there are many of them, such as in each row of a table. The router's own does more, and
 * takes several times as long to draw.
 */
export function PageLink({
  to,
  ...others
}: AnchorHTMLAttributes<HTMLAnchorElement> & {
  /** Below `/console`, encoded. */
  readonly to: string
}) {
  const router = useRouter()
  const follow = (event: MouseEvent) => {
    const { button, metaKey, altKey, ctrlKey, shiftKey } = event
    // What the browser does besides, such as another tab, is left to it.
    if (button !== 0 || metaKey || altKey || ctrlKey || shiftKey) return
    event.preventDefault()
    void router.navigate({ to })
  }
  return <a {...others} href={router.history.createHref(`/console${to}`)} onClick={follow} />
}
