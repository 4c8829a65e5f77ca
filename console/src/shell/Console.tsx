import { RouterProvider } from '@tanstack/react-router'
import type { Me } from '../api.ts'
import { router } from './routes.tsx'
import { MeProvider } from './session.tsx'

/** All of the console, for whoever is signed in. */
export default function Console({ me }: { readonly me: Me }) {
  return (
    <MeProvider value={me}>
      <RouterProvider router={router} />
    </MeProvider>
  )
}
