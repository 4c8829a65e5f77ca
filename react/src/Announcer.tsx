import type { LiveEvent } from '@parley/client'
import { useEffect, useState } from 'react'
import { useParleyContext } from './context.tsx'
import { useMe } from './hooks.ts'

/** How long news are gathered before they are said, in milliseconds. */
const gatheredMs = 1000

/**
 * Says to screen readers how many messages have come. It stands apart from the lists, whose rows come and go as they are scrolled
 * and would be read out each time.
 */
export function Announcer() {
  const { client, texts } = useParleyContext()
  const me = useMe()
  const [said, setSaid] = useState({ times: 0, text: '' })
  useEffect(() => {
    let count = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const hear = (event: LiveEvent) => {
      if (event.type !== 'message' || event.isMissed || event.message.sender === me?.uid) return
      if (event.message.category === 'action') return
      count++
      timer ??= setTimeout(() => {
        const text = texts.newMessages(count)
        setSaid(({ times }) => ({ times: times + 1, text }))
        count = 0
        timer = undefined
      }, gatheredMs)
    }
    const end = client.live.on(hear)
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [client, texts, me?.uid])
  return (
    <div className="parley-hidden" role="status" aria-live="polite">
      {/* The same words are said again where they stand in another element. */}
      <span key={said.times}>{said.text}</span>
    </div>
  )
}
