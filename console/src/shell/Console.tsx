import { RouterProvider } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Me } from '../api.ts'
import { router } from './routes.tsx'
import { MeProvider } from './session.tsx'

/** All of the console, for whoever is signed in. */
export default function Console({ me }: { readonly me: Me }) {
  useTakingUp(me)
  return (
    <MeProvider value={me}>
      <RouterProvider router={router} />
    </MeProvider>
  )
}

/** Nobody waits for exports: they come after the page that was asked for. */
const afterPageMs = 1_000

/** Exports that were left go on, whatever page is open; those of others are discarded. */
function useTakingUp(me: Me): void {
  useEffect(() => {
    const timer = setTimeout(() => void import('../exports/run.ts').then(({ takeUp }) => takeUp(me)), afterPageMs)
    return () => clearTimeout(timer)
  }, [me])
}
