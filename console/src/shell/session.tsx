import { useParams } from '@tanstack/react-router'
import { createContext, useContext } from 'react'
import { appClient, type Me, type Right } from '../api.ts'

const MeContext = createContext<Me | undefined>(undefined)
export const MeProvider = MeContext.Provider

/** The operator who is signed in. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (me === undefined) throw new Error('nobody is signed in here')
  return me
}

/** Whether the operator has a right. What they may not do is not shown; the service refuses it all the same. */
export function useCan(): (right: Right) => boolean {
  const { rights } = useMe()
  return (right) => rights.includes(right)
}

/** The app that the page is about, and its operations. */
export function useApp() {
  const { appId } = useParams({ strict: false }) as { appId: string }
  return { appId, client: appClient(appId) }
}
