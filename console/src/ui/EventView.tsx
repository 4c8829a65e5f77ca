import { Stack } from '@mantine/core'
import { Json } from './page.tsx'
import { ReadingBar } from './Reading.tsx'

/** An event as JSON. Where it has a message, it says whether its text is shown. */
export function EventView({ event }: { readonly event: { readonly data?: unknown } }) {
  const conversation = conversationOf(event.data)
  return (
    <Stack gap="xs">
      {conversation !== undefined && <ReadingBar of={conversation} />}
      <Json value={event} />
    </Stack>
  )
}

/** The conversation of the message that an event is about. */
function conversationOf(data: unknown): string | undefined {
  const { message, resource, conversationId } = (data ?? {}) as Record<string, { conversationId?: string } | undefined>
  // The older envelope has the message itself.
  return message?.conversationId ?? resource?.conversationId ?? (conversationId as string | undefined)
}
