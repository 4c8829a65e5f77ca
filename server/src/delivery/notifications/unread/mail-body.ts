import { escapeHtml } from '../../../chat/notifications/html.ts'
import { replyMarker } from '../../../chat/notifications/reply-address.ts'
import type { ListedMessage, UnreadNotification } from './notification.ts'

/** An e-mail as people read it, in both forms. */
export interface MailBody {
  readonly text: string
  readonly html: string
}

/** Lays out the e-mails that are sent by SMTP; those of other providers have templates there. */
export function mailBodyOf(notification: UnreadNotification): MailBody {
  const { messages, groupDetails, senderDetails, unsubscribeLink } = notification
  const place = groupDetails === undefined ? `from ${senderDetails?.name ?? ''}` : `in ${groupDetails.name}`
  const greeting = `Hello ${notification.to.name},`
  const count = `${notification.unread} unread ${notification.unread === 1 ? 'message' : 'messages'} ${place}`
  const shown = messages.length < notification.unread ? `${count}; these are the last ones:` : `${count}:`
  const takesReplies = notification.replyTo !== undefined
  const text = [
    ...(takesReplies ? [replyMarker] : []),
    greeting,
    shown,
    ...messages.map((one) => `${one.sender.name}:\n${linesOf(one).join('\n')}`),
    ...(unsubscribeLink === undefined ? [] : [`Unsubscribe from these e-mails: ${unsubscribeLink}`]),
  ]
  const footer =
    unsubscribeLink === undefined
      ? ''
      : `<p style="color:#666;font-size:12px"><a href="${escapeHtml(unsubscribeLink)}" style="color:#666">Unsubscribe from these e-mails</a></p>`
  const html = `<!doctype html>
<html>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
<body style="font-family:sans-serif;font-size:14px;line-height:1.4;max-width:580px;margin:0 auto;padding:10px">
${takesReplies ? `<p style="color:#666;font-size:12px">${replyMarker}</p>` : ''}
<p>${escapeHtml(greeting)}</p>
<p>${escapeHtml(shown)}</p>
${messages.map(blockOf).join('\n')}
${footer}
</body>
</html>
`
  return { text: `${text.join('\n\n')}\n`, html }
}

function linesOf({ message, attachments = [] }: ListedMessage): string[] {
  return [...(message === '' ? [] : [message]), ...attachments.map((name) => `[${name}]`)]
}

function blockOf(message: ListedMessage): string {
  const lines = linesOf(message).map((line) => escapeHtml(line).replaceAll(/\r\n|\r|\n/g, '<br>'))
  return `<p style="margin:0 0 12px"><strong>${escapeHtml(message.sender.name)}</strong><br>${lines.join('<br>')}</p>`
}
