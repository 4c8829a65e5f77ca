import { useDebouncedValue } from '@mantine/hooks'
import type { AdminResult } from '@parley/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { admin } from '../api.ts'
import { appOf, appsStaleTime as staleTime } from '../questions.ts'

export type App = AdminResult<'GET /apps'>['data'][number]

/** How many are offered at once; the others are found by what is typed. */
const offered = 100
const typingMs = 200

/** The first apps that the operator has to do with, of those with `searchKey` in their IDs. */
export function useApps(searchKey = '') {
  return useQuery({
    queryKey: ['apps', 'found', searchKey],
    queryFn: () => admin('GET /apps', { perPage: offered, ...(searchKey !== '' && { searchKey }) }),
    placeholderData: keepPreviousData,
    staleTime,
  })
}

/** The apps that somebody has to do with, in words: having none is not having all. */
export function appsInWords(apps: readonly string[] | null | undefined, all = 'all'): string {
  return apps?.join(', ') === '' ? 'none' : (apps?.join(', ') ?? all)
}

/** One app; of none where there is no ID. */
export function useAppOf(appId: string | undefined) {
  return useQuery({ ...appOf(appId ?? ''), enabled: appId !== undefined })
}

/**
 * IDs of apps to choose from, found by what is typed.
 * @param chosen those that are offered in any case
 */
export function useAppSearch(chosen: readonly string[]) {
  const [typed, setTyped] = useState('')
  // Of a field of one app, what is chosen stands where one types.
  const [searched] = useDebouncedValue(chosen.includes(typed) ? '' : typed, typingMs)
  const found = useApps(searched.trim().slice(0, 100)).data?.data.map(({ appId }) => appId) ?? []
  return { typed, setTyped, appIds: [...new Set([...chosen, ...found])] }
}
