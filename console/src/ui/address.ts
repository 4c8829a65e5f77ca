import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

/** What stands behind ? in the address: all text, so that a link shows the same to a colleague. */
export type Search = Readonly<Record<string, string>>

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text))
}

export function stringifySearch(search: Record<string, unknown>): string {
  const kept = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** The state of a page that its address holds, and how to change a part of it; '' takes a part away. */
export function useAddress(): [Search, (change: Record<string, string | undefined>) => void] {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const change = useCallback(
    (part: Record<string, string | undefined>) => {
      const next = (before: Record<string, unknown>) => ({ ...before, ...part })
      void navigate({ to: '.', search: next as never, replace: true })
    },
    [navigate],
  )
  return [search, change]
}
