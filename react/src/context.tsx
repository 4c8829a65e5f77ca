import type { LiveClient } from '@parley/client'
import { type ComponentType, createContext, type ReactNode, useContext, useEffect, useMemo } from 'react'
import type { AttachmentProps, AvatarProps, ConversationItemProps, MessageProps } from './props.ts'
import { english, type Texts } from './texts.ts'

/** Parts of the components that a product can replace by its own. */
export interface Components {
  readonly Avatar?: ComponentType<AvatarProps>
  readonly Message?: ComponentType<MessageProps>
  readonly ConversationItem?: ComponentType<ConversationItemProps>
  readonly Attachment?: ComponentType<AttachmentProps>
}

interface Value {
  readonly client: LiveClient
  readonly texts: Texts
  readonly locale: string | undefined
  readonly components: Components
}

const ParleyContext = createContext<Value | undefined>(undefined)

export interface ParleyProviderProps {
  /** Made by `createLiveClient`. It is connected while the provider is there. */
  readonly client: LiveClient
  /** Texts in another language, or other ones. */
  readonly texts?: Partial<Texts>
  /** Of dates and times, such as `de-CH`; that of the browser by default. */
  readonly locale?: string
  readonly components?: Components
  readonly children: ReactNode
}

const none: Components = {}

/** Gives hooks and components the client of the user who is logged in. */
export function ParleyProvider({ client, texts, locale, components = none, children }: ParleyProviderProps) {
  useEffect(() => {
    client.live.connect()
    return () => client.live.close()
  }, [client])
  const value = useMemo(
    () => ({ client, texts: { ...english, ...texts }, locale, components }),
    [client, texts, locale, components],
  )
  return <ParleyContext.Provider value={value}>{children}</ParleyContext.Provider>
}

const keys = new WeakMap<LiveClient, number>()
let lastKey = 0

/** The `key` of what belongs to one user, such as what they have written: with another client it begins anew. */
export function useClientKey(): number {
  const { client } = useParleyContext()
  const key = keys.get(client) ?? ++lastKey
  keys.set(client, key)
  return key
}

/** What the provider was given. */
export function useParleyContext(): Value {
  const value = useContext(ParleyContext)
  if (value === undefined) throw new Error('Put a ParleyProvider around components and hooks of @parley/react')
  return value
}
