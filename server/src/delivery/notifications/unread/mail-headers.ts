import { unsubscribeHeadersOf } from '../../../chat/notifications/unsubscribing.ts'
import type { UnreadNotification } from './notification.ts'

/** The same for each attempt at one e-mail: mail servers and programs that get it twice show it once. @param from its sender */
export function messageIdOf(id: string, from: string): string {
  const domain = /@([A-Za-z0-9.-]+)/.exec(from)?.[1] ?? 'localhost'
  return `<${id}@${domain}>`
}

/** Headers of every e-mail: no robot is to answer it, and programs offer to unsubscribe. */
export function headersOfMail({ unsubscribeLink }: UnreadNotification): Record<string, string> {
  return {
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
    ...(unsubscribeLink !== undefined && unsubscribeHeadersOf(unsubscribeLink)),
  }
}
