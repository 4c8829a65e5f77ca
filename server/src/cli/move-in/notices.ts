/** What became of records that the target cannot hold as they were, and of what no list answers. */
export const notices = {
  'deleted-user': {
    outcome: 'changed',
    what: 'Messages name somebody who is not a user any more. They became a deactivated user named "Deleted user".',
  },
  'group-password': {
    outcome: 'changed',
    what: 'No list answers the passwords of groups. The group has a random one; its members stay. Set another with PUT /groups/{guid}.',
  },
  'action-without-message': {
    outcome: 'skipped',
    what: 'It tells that a message was edited or deleted that is not there any more.',
  },
  'reply-without-parent': {
    outcome: 'changed',
    what: 'The message that it replies to is not there any more. It became an ordinary message.',
  },
  'quote-without-message': {
    outcome: 'changed',
    what: 'The message that it quotes is not there any more. It was taken without its quote.',
  },
  'shared-muid': {
    outcome: 'changed',
    what: 'Another message has the same muid. It was given one with a suffix.',
  },
  'file-not-copied': {
    outcome: 'changed',
    what: 'The file could not be copied; the message keeps its old address.',
  },
  'file-without-storage': {
    outcome: 'changed',
    what: 'The target did not take the file; the message keeps its old address.',
  },
  'file-address-kept': {
    outcome: 'skipped',
    what: 'Its file was uploaded after the message was imported, which an import does not change: it keeps the address from before. At the cut-over, --follow sets the new one.',
  },
  'permission-refused': {
    outcome: 'skipped',
    what: 'The target does not know this permission, or not this value of it.',
  },
  'message-refused': {
    outcome: 'skipped',
    what: 'The target did not take this message while it followed.',
  },
  'relation-refused': {
    outcome: 'skipped',
    what: 'The target did not take this friendship, block, pin, saved message or tag.',
  },
  'rule-switched-off': {
    outcome: 'changed',
    what: 'The rule of moderation was on. It was made switched off, so that it judges nothing while the move follows; switch it on with PUT /moderation/rules/{ruleId}.',
  },
  'moderation-refused': {
    outcome: 'skipped',
    what: 'The target did not take this rule, list or reason of moderation.',
  },
  'not-written-back': {
    outcome: 'skipped',
    what: 'The old service did not take what was written back to it.',
  },
  'list-refused': {
    outcome: 'skipped',
    what: 'The role of this user denies them their list of conversations, so that unread messages, tags and pins of theirs are unknown.',
  },
  'notification-refused': {
    outcome: 'skipped',
    what: 'The target did not take this setting or template of notifications, or what this user chose about them.',
  },
  'record-refused': {
    outcome: 'skipped',
    what: 'The target did not take this friendship, block, side of a conversation, saved message, thread, token or key.',
  },
} as const satisfies Record<string, { outcome: 'changed' | 'skipped'; what: string }>

export type NoticeCode = keyof typeof notices

/** What cannot be had from the lists of the hosted contract. It is in every report. */
export const notOverRest = [
  'Passwords of groups.',
  'Who received and read a message of a group: a message has one deliveredAt and one readAt.',
  'Times of marks of groups (read, delivered, reset).',
  'Messages, users and groups that were deleted for good, and texts before the last edit.',
  'When, and by whom, somebody was banned; when somebody became a friend.',
  'Unread counts of groups above 300 members.',
  'Webhooks and their secrets: they are of the management API, which has other credentials.',
  'Providers of push, mail and SMS with their secrets; tokens of devices; what somebody unsubscribed from by a link in a mail.',
  'Recordings of calls.',
] as const

const examplesOfEach = 20

/** Counts notices, with some examples of each. */
export interface Notices {
  add(code: NoticeCode, example: string): void
  list(): Array<{ code: NoticeCode; outcome: string; count: number; what: string; examples: string[] }>
}

export function createNotices(): Notices {
  const counted = new Map<NoticeCode, { count: number; readonly examples: string[] }>()
  return {
    add(code, example) {
      const found = counted.get(code) ?? { count: 0, examples: [] }
      counted.set(code, found)
      found.count += 1
      if (found.examples.length < examplesOfEach) found.examples.push(example.slice(0, 500))
    },
    list: () => [...counted].map(([code, { count, examples }]) => ({ code, ...notices[code], count, examples })),
  }
}
