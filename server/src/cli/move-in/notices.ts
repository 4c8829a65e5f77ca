/** What became of records that the target cannot hold as they were, and of what no list answers. */
export const notices = {
  'deleted-user': {
    outcome: 'changed',
    what: 'Messages name somebody who is no user any more. They became a deactivated user named "Deleted user".',
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
  'unread-not-set': {
    outcome: 'changed',
    what: 'The conversation had unread messages. Imported messages of groups count as read.',
  },
} as const satisfies Record<string, { outcome: 'changed' | 'skipped'; what: string }>

export type NoticeCode = keyof typeof notices

/** What cannot be had from the lists of the hosted contract. It is in every report. */
export const notOverRest = [
  'Passwords of groups.',
  'Who received and read a message of a group: a message has one deliveredAt and one readAt.',
  'Times of marks (read, delivered, unread, reset), and where each member joined the history.',
  'Messages, users and groups that were deleted for good, and texts before the last edit.',
  'When, and by whom, somebody was banned, blocked, or became a friend.',
  'Unread counts of groups above 300 members.',
  'Webhooks and their secrets: they are of the management API, which has other credentials.',
  'Secrets of providers of push, mail and SMS; tokens of devices.',
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
