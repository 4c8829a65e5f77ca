import { escapeHtml } from '../chat/notifications/html.ts'
import type { Unsubscription } from '../chat/notifications/unsubscribing.ts'

export type UnsubscribeState = 'asking' | 'unsubscribed' | 'subscribed'

/** What the page of a link to unsubscribe shows. */
export type UnsubscribeView =
  | { readonly state: 'unknown' }
  | {
      readonly state: UnsubscribeState
      readonly channel: Unsubscription['channel']
      /** Only of one conversation. */
      readonly isOfOne: boolean
      /** Whose link it is. */
      readonly name: string
    }

/** A page without scripts; its form goes to the address that it was opened by. */
export function unsubscribePage(view: UnsubscribeView): string {
  const { title, text, button } = wordsOf(view)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto; padding: 0 1rem; }
button { font: inherit; padding: 0.5rem 1rem; }
</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${button === undefined ? '' : `<form method="post"><button name="action" value="${button.action}">${button.text}</button></form>`}
</body>
</html>
`
}

interface PageWords {
  readonly title: string
  readonly text: string
  readonly button?: { readonly action: 'subscribe' | 'unsubscribe'; readonly text: string }
}

function wordsOf(view: UnsubscribeView): PageWords {
  if (view.state === 'unknown') {
    return { title: 'This link is not valid', text: 'Please use the link of a newer message.' }
  }
  const what = view.channel === 'email' ? 'e-mails' : 'text messages'
  const about = view.isOfOne ? 'unread messages in this conversation' : 'unread messages'
  switch (view.state) {
    case 'asking':
      return {
        title: `No more ${what}?`,
        text: `${view.name} gets ${what} about ${about}. Do you want to end that?`,
        button: { action: 'unsubscribe', text: 'Unsubscribe' },
      }
    case 'unsubscribed':
      return {
        title: 'Unsubscribed',
        text: `${view.name} gets no more ${what} about ${about}.`,
        button: { action: 'subscribe', text: 'Subscribe again' },
      }
    case 'subscribed':
      return { title: 'Subscribed again', text: `${view.name} gets ${what} about ${about}.` }
  }
}
