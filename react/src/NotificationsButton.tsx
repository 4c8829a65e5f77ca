import type { LiveClient } from '@parley/client'
import { useCallback, useEffect, useState } from 'react'
import { useParleyContext } from './context.tsx'
import type { Texts } from './texts.ts'

export interface NotificationsButtonProps {
  /** Address of the service worker of your page, such as `/service-worker.js`. */
  readonly serviceWorker: string
  /** Below which addresses it works; by default those beside it. */
  readonly scope?: string
}

/**
 * Asks whether this browser may show notifications, and registers it for Web Push. Where that was allowed before, it is registered
 * at once for the user who is logged in now: a browser has one subscription. Not there where the browser cannot do it.
 */
export function NotificationsButton({ serviceWorker, scope }: NotificationsButtonProps) {
  const { client, texts } = useParleyContext()
  const [isOn, setOn] = useState(false)
  const [problem, setProblem] = useState('')
  const turnOn = useCallback(async () => {
    try {
      await register(client, texts, serviceWorker, scope)
      setOn(true)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }, [client, texts, serviceWorker, scope])
  const canNotify = typeof window !== 'undefined' && 'PushManager' in window && 'serviceWorker' in navigator
  useEffect(() => {
    if (canNotify && Notification.permission === 'granted') void turnOn()
  }, [canNotify, turnOn])
  if (!canNotify) return null
  return (
    <span className="parley-notify">
      <button type="button" disabled={isOn} onClick={turnOn}>
        {isOn ? texts.notified : texts.notify}
      </button>
      {problem !== '' && !isOn && <span role="alert">{problem}</span>}
    </span>
  )
}

async function register(client: LiveClient, texts: Texts, serviceWorker: string, scope: string | undefined) {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error(texts.notifyDenied)
  const { publicKey } = await client.notifications.vapidKey()
  const { endpoint = '', keys = {} } = await subscribe(serviceWorker, scope, publicKey)
  const { p256dh = '', auth = '' } = keys
  const subscription = { endpoint, keys: { p256dh, auth } }
  await client.notifications.tokens.register({ platform: 'web_push', subscription })
}

async function subscribe(serviceWorker: string, scope: string | undefined, publicKey: string) {
  await navigator.serviceWorker.register(serviceWorker, scope === undefined ? {} : { scope })
  const { pushManager } = await navigator.serviceWorker.ready
  const present = await pushManager.getSubscription()
  // One that was made with another key, such as that of another app, is of no use here.
  if (present !== null && keyOf(present) !== publicKey) await present.unsubscribe()
  return (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })).toJSON()
}

function keyOf({ options }: PushSubscription): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0))))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
