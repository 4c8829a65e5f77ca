import { Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { admin, isSignedOut, queryClient } from '../api.ts'
import { discardWork } from '../exports/leaving.ts'
import { Problem } from '../ui/states.tsx'
import { readReturn } from './provider.ts'
import { BackFromProvider, Invitation, SetUp, SignIn } from './SignIn.tsx'

const Console = lazy(() => import('./Console.tsx'))

/** What stands behind # in a one-time address: it never reaches a log. Taken out of the address bar once it is read. */
function takeLink(): { readonly kind: 'setup' | 'invitation'; readonly token: string } | undefined {
  const [, kind, token] = /^#(setup|invitation)=([A-Za-z0-9_-]+)$/.exec(location.hash) ?? []
  if (kind === undefined || token === undefined) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return { kind: kind as 'setup' | 'invitation', token }
}

/** Who has not signed in sees how to; who has, the console. */
export function Entrance() {
  const [link, setLink] = useState(takeLink)
  const [back, setBack] = useState(readReturn)
  const me = useQuery({ queryKey: ['me'], queryFn: () => admin('GET /session'), staleTime: 60_000 })
  const isOut = isSignedOut(me.error)
  useEffect(() => {
    if (isOut) void discardWork()
  }, [isOut])
  const enter = () => {
    setLink(undefined)
    setBack(undefined)
    queryClient.clear()
    void me.refetch()
  }
  if (back !== undefined) return <BackFromProvider back={back} onDone={enter} />
  if (link?.kind === 'setup') return <SetUp token={link.token} onDone={enter} />
  if (link?.kind === 'invitation') return <Invitation token={link.token} onDone={enter} />
  if (me.data !== undefined && !isOut) {
    return (
      <Suspense fallback={<Waiting />}>
        <Console me={me.data} />
      </Suspense>
    )
  }
  if (me.isPending) return <Waiting />
  if (isOut) return <SignIn onDone={enter} />
  return (
    <Center h="100%">
      <Problem error={me.error} onRetry={() => void me.refetch()} />
    </Center>
  )
}

function Waiting() {
  return (
    <Center h="100%">
      <Loader role="status" aria-label="Loading" />
    </Center>
  )
}
