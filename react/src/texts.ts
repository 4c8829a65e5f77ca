/** Everything that the components write. Pass your own to `ParleyProvider` as `texts`; what is left out stays English. */
export interface Texts {
  readonly conversations: string
  readonly noConversations: string
  readonly messages: (name: string) => string
  readonly noMessages: string
  readonly write: (name: string) => string
  readonly send: string
  readonly attach: string
  readonly removeFile: (name: string) => string
  readonly edit: string
  readonly editing: string
  readonly delete: string
  readonly deleted: string
  readonly edited: string
  readonly quote: string
  readonly quoting: (name: string) => string
  readonly reply: string
  readonly react: string
  readonly actions: string
  readonly cancel: string
  readonly close: string
  readonly replies: (count: number) => string
  readonly thread: string
  readonly members: string
  readonly search: string
  readonly searchMessages: string
  readonly noHits: string
  readonly newChat: string
  readonly newGroup: string
  readonly groupName: string
  readonly create: string
  readonly back: string
  readonly online: string
  readonly offline: string
  readonly typing: (names: readonly string[]) => string
  readonly unread: (count: number) => string
  readonly newMessages: (count: number) => string
  readonly toNewest: string
  readonly you: string
  readonly sending: string
  readonly failed: string
  readonly retry: string
  readonly discard: string
  readonly sent: string
  readonly delivered: string
  readonly read: string
  readonly file: string
  readonly notShown: string
  readonly loading: string
  readonly loadMore: string
  readonly connecting: string
  readonly waiting: string
  readonly loggedOut: string
  readonly replaced: string
  readonly reconnect: string
  readonly removed: string
  readonly problem: string
  readonly notify: string
  readonly notified: string
  readonly notifyDenied: string
  readonly groupEvent: (action: string, by: string, on: string) => string
  readonly today: string
  readonly scope: (scope: 'admin' | 'moderator' | 'participant') => string
}

export const english: Texts = {
  conversations: 'Conversations',
  noConversations: 'No conversations yet',
  messages: (name) => `Messages with ${name}`,
  noMessages: 'No messages yet',
  write: (name) => `Write to ${name}`,
  send: 'Send',
  attach: 'Attach files',
  removeFile: (name) => `Remove ${name}`,
  edit: 'Edit',
  editing: 'Editing a message',
  delete: 'Delete',
  deleted: 'This message was deleted',
  edited: 'edited',
  quote: 'Quote',
  quoting: (name) => `Quoting ${name}`,
  reply: 'Reply in thread',
  react: 'React',
  actions: 'Actions',
  cancel: 'Cancel',
  close: 'Close',
  replies: (count) => (count === 1 ? '1 reply' : `${count} replies`),
  thread: 'Thread',
  members: 'Members',
  search: 'Search',
  searchMessages: 'Search messages',
  noHits: 'Nothing found',
  newChat: 'New chat',
  newGroup: 'New group',
  groupName: 'Name of the group',
  create: 'Create',
  back: 'Back',
  online: 'online',
  offline: 'offline',
  typing: (names) => (names.length === 1 ? `${names[0]} is typing` : `${names.join(', ')} are typing`),
  unread: (count) => (count === 1 ? '1 unread message' : `${count} unread messages`),
  newMessages: (count) => (count === 1 ? '1 new message' : `${count} new messages`),
  toNewest: 'To the newest message',
  you: 'You',
  sending: 'sending',
  failed: 'not sent',
  retry: 'Try again',
  discard: 'Discard',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  file: 'File',
  notShown: 'This message cannot be shown',
  loading: 'Loading',
  loadMore: 'Load more',
  connecting: 'Connecting',
  waiting: 'No connection. What you write is sent later.',
  loggedOut: 'You are logged out.',
  replaced: 'Parley is open in too many other windows.',
  reconnect: 'Connect again',
  removed: 'You are no longer in this group.',
  problem: 'This could not be loaded.',
  notify: 'Notify me',
  notified: 'You are notified',
  notifyDenied: 'This browser blocks notifications here.',
  groupEvent(action, by, on) {
    switch (action) {
      case 'joined':
        return `${by} joined`
      case 'left':
        return `${by} left`
      case 'added':
        return `${by} added ${on}`
      case 'kicked':
        return `${by} removed ${on}`
      case 'banned':
        return `${by} banned ${on}`
      case 'unbanned':
        return `${by} lifted the ban of ${on}`
      case 'scopeChanged':
        return `${by} changed the role of ${on}`
      default:
        return action
    }
  },
  today: 'Today',
  scope: (scope) => scope,
}
