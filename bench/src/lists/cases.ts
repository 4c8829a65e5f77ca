import type { Landmarks, Place } from './landmarks.ts'

/** One request of a list in a seeded world. */
export interface ListCase {
  readonly name: string
  /** Below `/v3`. */
  readonly path: string
  /** The acting user; absent when the app asks. */
  readonly as?: string
}

/** Every list of the service, with the filters that need a way of their own. */
export function listCases(landmarks: Landmarks): ListCase[] {
  return [
    ...userLists(landmarks),
    ...groupLists(landmarks),
    ...memberLists(landmarks),
    ...relationLists(),
    ...conversationLists(landmarks),
    ...histories(landmarks),
    ...messagesOfUser(landmarks),
    ...messagesOfApp(landmarks),
    ...searches(landmarks),
    ...threadLists(landmarks),
    ...moderationLists(landmarks),
    ...otherLists(landmarks),
  ]
}

const lastPage = (count: number) => Math.max(1, Math.floor(count / 100))
const from = ({ id, sentAt }: Place, affix: 'append' | 'prepend') => `affix=${affix}&id=${id}&sentAt=${sentAt}&limit=30`

/** Cases of one path: name and query of each. */
function asked(prefix: string, path: string, queries: Record<string, string>, as?: string): ListCase[] {
  return Object.entries(queries).map(([name, query]) => ({
    name: `${prefix}: ${name}`,
    path: query === '' ? path : `${path}?${query}`,
    ...(as !== undefined && { as }),
  }))
}

function userLists({ sizes, usersChangedAt }: Landmarks): ListCase[] {
  return [
    ...asked('users', '/users', {
      'by name': '',
      'last page': `page=${lastPage(sizes.users * 0.98)}`,
      'with part of a name': 'searchKey=ada',
      'with a rare part of a name': 'searchKey=s%20777',
      'with a letter': 'searchKey=a',
      'with part of a uid': 'searchKey=77&searchIn=uid',
      'with no such part': 'searchKey=zzz',
      'of a rare role': 'role=vip',
      'of the usual role': 'role=default',
      'of two roles': 'roles=vip,default',
      'of no role': 'role=nobody',
      'with a tag': 'tags=gold',
      'with no such tag': 'tags=nothing',
      'changed since': `updatedAt=${usersChangedAt}&affix=append`,
      'changed before': `updatedAt=${usersChangedAt}&affix=prepend`,
      'changed within': `updatedAt[from]=${usersChangedAt}&updatedAt[to]=${usersChangedAt + 3600}`,
      'made within': `createdAt[from]=${usersChangedAt}&createdAt[to]=${usersChangedAt + 3600}`,
      deactivated: 'onlyDeactivated=true',
      'deactivated too': 'withDeactivated=true',
      'by uid': 'uids=u1,u2,u3,busy',
    }),
    ...asked(
      'users',
      '/users',
      { 'for a user': '', friends: 'friendsOnly=true', 'not blocked': 'hideBlockedUsers=true' },
      'busy',
    ),
  ]
}

function groupLists({ sizes, groupsChangedAt }: Landmarks): ListCase[] {
  return [
    ...asked('groups', '/groups', {
      'by name': '',
      'last page': `page=${lastPage(sizes.groups)}`,
      'by guid': 'sortBy=guid',
      'newest first': 'sortBy=createdAt&sortOrder=desc',
      'with part of a name': 'searchKey=shift',
      'with no such part': 'searchKey=zzz',
      'with a tag': 'tags=news',
      'of a type': 'type=private',
      'of many members': 'membersCount[gt]=100',
      'changed since': `updatedAt=${groupsChangedAt}&affix=append`,
      'changed before': `updatedAt=${groupsChangedAt}&affix=prepend`,
      'by guids': 'guids=g1,g2,crowd',
    }),
    ...asked(
      'groups',
      '/groups',
      { 'for a user': '', joined: 'hasJoined=true', 'joined, second page': 'hasJoined=true&page=2' },
      'busy',
    ),
  ]
}

function memberLists({ sizes }: Landmarks): ListCase[] {
  const path = '/groups/crowd/members'
  return [
    ...asked('members', path, {
      'by name': '',
      'last page': `page=${lastPage(sizes.crowd * 0.98)}`,
      'with part of a name': 'searchKey=ros',
      admins: 'scopes=admin',
    }),
    ...asked('members', path, { 'for a member': '' }, 'busy'),
    ...asked('banned', '/groups/crowd/bannedusers', { 'newest first': '', 'second page': 'page=2' }),
  ]
}

function relationLists(): ListCase[] {
  return [
    ...asked('friends', '/users/busy/friends', { 'by name': '', 'second page': 'page=2', search: 'searchKey=ada' }),
    ...asked('blocked', '/users/busy/blockedusers', {
      'newest first': '',
      'both ways': 'direction=both',
      'who blocked them': 'direction=hasBlockedMe',
      search: 'searchKey=ada',
    }),
  ]
}

function conversationLists({ sizes }: Landmarks): ListCase[] {
  return [
    ...asked(
      'conversations',
      '/conversations',
      {
        'newest first': '',
        'last page': `page=${lastPage(sizes.busyGroups + sizes.busyPairs - 300)}`,
        unread: 'unread=true',
        'with part of a name': 'searchKey=ada',
        'with a tag': 'tags=work',
        'one-to-one': 'conversationType=user',
        'of groups': 'conversationType=group',
      },
      'busy',
    ),
    ...asked('conversations', '/conversations', { 'of a quiet user': '' }, 'u7'),
    ...asked('conversations', '/conversations', { 'of everybody': '', 'each once': 'unique=true' }),
  ]
}

/** The history of one conversation: a long one between two users, and that of a large group. */
function histories({ crowdMiddle, talkMiddle, middle }: Landmarks): ListCase[] {
  const filters = {
    'newest page': 'affix=prepend&limit=30',
    'oldest page': 'limit=30',
    'of a category': 'affix=prepend&limit=30&category=custom',
    'of types': 'affix=prepend&limit=30&types=image,file',
    'with a tag': 'affix=prepend&limit=30&tags=important',
    'with attachments': 'affix=prepend&limit=30&hasAttachments=true',
    'with images': 'affix=prepend&limit=30&attachmentTypes=image',
    'with links': 'affix=prepend&limit=30&hasLinks=true',
    'with reactions': 'affix=prepend&limit=30&hasReactions=true',
    'without replies': 'affix=prepend&limit=30&hideReplies=true',
    'without deleted ones': 'affix=prepend&limit=30&hideDeleted=true',
    'deleted ones': 'affix=prepend&limit=30&onlyDeleted=true',
    'within a time': `affix=prepend&limit=30&sentAt[from]=${middle.sentAt}&sentAt[to]=${middle.sentAt + 86_400}`,
    'changed since': `updatedAt=${middle.sentAt}&affix=append&limit=30`,
    'changed before': `updatedAt=${middle.sentAt}&affix=prepend&limit=30`,
    'only what was changed since': `updatedAt=${middle.sentAt}&affix=append&onlyUpdates=true&limit=30`,
  }
  const ofUser = {
    ...filters,
    saved: 'affix=prepend&limit=30&saved=true',
    unread: 'limit=30&unread=true',
    'count of unread': 'unread=true&count=true',
    undelivered: 'limit=30&undelivered=true',
  }
  const ofGroup = {
    ...filters,
    'of a sender': 'affix=prepend&limit=30&sender=busy',
    pinned: 'affix=prepend&limit=30&pinned=true',
    'that mention them': 'affix=prepend&limit=30&myMentionsOnly=true',
    unread: 'limit=30&unread=true',
    'count of unread': 'unread=true&count=true',
  }
  return [
    ...asked(
      'history of two',
      '/users/u1/messages',
      { ...ofUser, older: from(talkMiddle, 'prepend'), newer: from(talkMiddle, 'append') },
      'busy',
    ),
    ...asked(
      'history of a group',
      '/groups/crowd/messages',
      { ...ofGroup, older: from(crowdMiddle, 'prepend'), newer: from(crowdMiddle, 'append') },
      'busy',
    ),
    ...asked('history of a group', '/groups/crowd/messages', {
      'for the app': 'affix=prepend&limit=30',
      'changed since, for the app': filters['changed since'],
    }),
    ...asked('history of a pair', '/users/u8/messages', { 'newest page': 'affix=prepend&limit=30' }, 'u7'),
  ]
}

/** What was changed since it was sent, by the time of the change. */
function onlyChanged({ sentAt }: Place): Record<string, string> {
  return {
    'only what was changed since': `updatedAt=${sentAt}&affix=append&onlyUpdates=true&limit=30`,
    'only what was changed before': `updatedAt=${sentAt}&affix=prepend&onlyUpdates=true&limit=30`,
    'only what was changed since, within a time': `updatedAt=${sentAt}&affix=append&updatedAt[from]=${sentAt}&limit=30`,
    'only what was changed since, of a type': `updatedAt=${sentAt}&affix=append&onlyUpdates=true&type=image&limit=30`,
  }
}

/** What a user sees of all their conversations together. */
function messagesOfUser({ middle, nearEnd }: Landmarks): ListCase[] {
  return [
    ...asked(
      'messages of a user',
      '/messages',
      {
        'newest page': 'affix=prepend&limit=30',
        'oldest page': 'limit=30',
        'older than the middle': from(middle, 'prepend'),
        'newer than the middle': from(middle, 'append'),
        'since lately': from(nearEnd, 'append'),
        'changed since lately': `updatedAt=${nearEnd.sentAt}&affix=append&limit=30`,
        'changed since the middle': `updatedAt=${middle.sentAt}&affix=append&limit=30`,
        ...onlyChanged(middle),
        unread: 'limit=30&unread=true',
        'count of unread': 'unread=true&count=true',
        undelivered: 'limit=30&undelivered=true',
        'of a category': 'affix=prepend&limit=30&category=custom',
        'with attachments': 'affix=prepend&limit=30&hasAttachments=true',
        'that mention them': 'affix=prepend&limit=30&myMentionsOnly=true',
        saved: 'affix=prepend&limit=30&saved=true',
        'of a sender': 'affix=prepend&limit=30&sender=u1',
      },
      'busy',
    ),
    ...asked(
      'messages of a user',
      '/messages',
      { 'newest page, of a quiet one': 'affix=prepend&limit=30', 'oldest page, of a quiet one': 'limit=30' },
      'u7',
    ),
  ]
}

function messagesOfApp({ middle, nearEnd }: Landmarks): ListCase[] {
  return [
    ...asked('messages of the app', '/messages', {
      'newest page': 'affix=prepend&limit=30',
      'oldest page': 'limit=30',
      'older than the middle': from(middle, 'prepend'),
      'newer than the middle': from(middle, 'append'),
      'changed since lately': `updatedAt=${nearEnd.sentAt}&affix=append&limit=30`,
      'changed since the middle': `updatedAt=${middle.sentAt}&affix=append&limit=30`,
      'changed before the middle': `updatedAt=${middle.sentAt}&affix=prepend&limit=30`,
      ...onlyChanged(middle),
      'of a conversation': 'affix=prepend&limit=30&conversationId=group_crowd',
      'of a sender': 'affix=prepend&limit=30&sender=busy',
      'of a category': 'affix=prepend&limit=30&category=custom',
      'of a type': 'affix=prepend&limit=30&type=image',
      'of no such type': 'affix=prepend&limit=30&type=nothing',
      'with a tag': 'affix=prepend&limit=30&tags=important',
      'with no such tag': 'affix=prepend&limit=30&tags=nothing',
      'with attachments': 'affix=prepend&limit=30&hasAttachments=true',
      'with reactions': 'affix=prepend&limit=30&hasReactions=true',
      'deleted ones': 'affix=prepend&limit=30&onlyDeleted=true',
      pinned: 'affix=prepend&limit=30&pinned=true',
    }),
    ...asked('messages of the app', '/users/busy/messages', { 'of a busy user': 'affix=prepend&limit=30' }),
    ...asked('messages of the app', '/users/u7/messages', { 'of a quiet user': 'affix=prepend&limit=30' }),
  ]
}

/** What the seeded messages say often, seldom and never, in two scripts; and what is less than the index holds. */
const searched = {
  'a frequent word': 'station',
  'a rare word': 'have a look',
  'no such word': 'zeppelin',
  'a letter': 's',
  'no such letter': 'z',
  'a Chinese word': '火车站',
  'a Chinese character': '馆',
} as const

type Searched = keyof typeof searched

/** Searches in messages: of all conversations of who has many and who has few, of one conversation, of the app. */
function searches({ thread, middle }: Landmarks): ListCase[] {
  const query = (name: Searched, rest: string) => `searchKey=${encodeURIComponent(searched[name])}&${rest}`
  const pagesOf = (...names: Searched[]) =>
    Object.fromEntries(names.map((name) => [name, query(name, 'affix=prepend&limit=30')]))
  const countsOf = (...names: Searched[]) =>
    Object.fromEntries(names.map((name) => [`count of ${name}`, query(name, 'count=true')]))
  const pages = pagesOf(...(Object.keys(searched) as Searched[]))
  const onlyChanged = Object.fromEntries(
    (Object.keys(searched) as Searched[]).map((name) => [
      `${name}, only what was changed since`,
      query(name, `updatedAt=${middle.sentAt}&affix=append&onlyUpdates=true&limit=30`),
    ]),
  )
  const both = { ...pages, ...countsOf('a frequent word', 'a rare word', 'a letter', 'a Chinese word') }
  const some = pagesOf('a frequent word', 'a rare word')
  return [
    ...asked('search of a busy user', '/messages', { ...both, ...onlyChanged }, 'busy'),
    ...asked('search of a quiet user', '/messages', both, 'u7'),
    ...asked('search of the app', '/messages', both),
    ...asked('search in a talk', '/users/u1/messages', both, 'busy'),
    ...asked('search in a group', '/groups/crowd/messages', both, 'busy'),
    ...asked('search in a group, for the app', '/groups/crowd/messages', some),
    ...asked('search in a thread', `/messages/${thread}/thread`, some, 'busy'),
    ...asked('search of a busy user, for the app', '/users/busy/messages', some),
    ...asked('search of a quiet user, for the app', '/users/u7/messages', some),
  ]
}

function threadLists({ thread, threadMiddle, middle }: Landmarks): ListCase[] {
  const replies = `/messages/${thread}/thread`
  const ofUser = {
    'newest first': '',
    'older than the middle': `updatedAt=${middle.sentAt}`,
    'newer than the middle': `updatedAt=${middle.sentAt}&affix=append`,
    'where they took part': 'participatedByMe=true',
  }
  return [
    ...asked('threads of a user', '/threads', ofUser, 'busy'),
    ...asked(
      'threads of a user',
      '/threads',
      { 'of a quiet one': '', 'where a quiet one took part': 'participatedByMe=true' },
      'u7',
    ),
    ...asked('threads of a group', '/groups/crowd/threads', ofUser, 'busy'),
    ...asked('threads of two', '/users/u1/threads', ofUser, 'busy'),
    ...asked('threads of the app', '/threads', {
      'newest first': '',
      'older than the middle': `updatedAt=${middle.sentAt}`,
    }),
    ...asked(
      'thread',
      replies,
      {
        'newest page': 'affix=prepend&limit=30',
        'oldest page': 'limit=30',
        older: from(threadMiddle, 'prepend'),
        newer: from(threadMiddle, 'append'),
        'changed since': `updatedAt=${threadMiddle.sentAt}&affix=append&limit=30`,
      },
      'busy',
    ),
    ...asked('thread', replies, { 'for the app': 'affix=prepend&limit=30' }),
  ]
}

/** What reviewers look through, and what was judged. */
function moderationLists({ middle }: Landmarks): ListCase[] {
  const filters = {
    'oldest first': 'order=oldest',
    'newest first': 'order=newest',
    'after the middle': `order=oldest&after=${middle.sentAt}_${middle.id}`,
    'before the middle': `order=newest&after=${middle.sentAt}_${middle.id}`,
    'within a time': `from=${middle.sentAt}&to=${middle.sentAt + 86_400}`,
    'of a rule': 'ruleId=often',
    'of a busy sender': 'sender=busy',
    'of a quiet sender': 'sender=u7',
    'of a conversation': 'conversationId=group_crowd',
    'that nobody has claimed': 'claimed=false',
  }
  const ofFlags = { 'of a reason': 'reasonId=spam', 'of who flagged': 'flaggedBy=busy' }
  return [
    ...asked('flagged', '/moderation/flagged-messages', { ...filters, ...ofFlags }),
    ...asked('blocked', '/moderation/blocked-messages', { ...filters, 'that were seen': 'reviewed=true' }),
    ...asked('reviewed', '/moderation/reviewed-messages', {
      ...filters,
      ...ofFlags,
      'of a decision': 'decision=approved',
      'of a reviewer': 'reviewedBy=often',
    }),
    ...asked('judged', '/moderation/messages', {
      'newest page': 'affix=prepend&limit=30',
      'oldest page': 'limit=30',
      'older than the middle': from(middle, 'prepend'),
      'newer than the middle': from(middle, 'append'),
      approved: 'affix=prepend&limit=30&moderationStatus=approved',
      pending: 'affix=prepend&limit=30&moderationStatus=pending',
      disapproved: 'affix=prepend&limit=30&moderationStatus=disapproved',
      'of a busy sender': 'affix=prepend&limit=30&sender=busy',
      'of a quiet sender': 'limit=30&sender=u7',
      'to a busy user': 'affix=prepend&limit=30&receiverUID=busy',
      'to a quiet user': 'limit=30&receiverUID=u7',
      'disapproved, of a busy sender': 'limit=30&moderationStatus=disapproved&sender=busy',
      'to a group': 'affix=prepend&limit=30&receiverGUID=crowd',
      'of a category': 'affix=prepend&limit=30&category=custom',
      'of a type': 'affix=prepend&limit=30&type=image',
      'of no such type': 'affix=prepend&limit=30&type=nothing',
      'disapproved, of no such type': 'limit=30&moderationStatus=disapproved&type=nothing',
    }),
    ...asked('rules', '/moderation/rules', { all: '' }),
    ...asked('lists of rules', '/moderation/keywords', { all: '' }),
    ...asked('reasons', '/moderation/reasons', { all: '' }),
  ]
}

function otherLists({ loved, reactionMiddle }: Landmarks): ListCase[] {
  return [
    ...asked(
      'reactions',
      `/messages/${loved}/reactions`,
      { first: '', newest: 'affix=prepend', 'after the middle': `id=${reactionMiddle}` },
      'busy',
    ),
    ...asked(
      'reactions',
      `/messages/${loved}/reactions/heart`,
      { 'of a kind': '', 'of a kind, newest': 'affix=prepend' },
      'busy',
    ),
    ...asked('keys', '/apikeys', { all: '' }),
    ...asked('roles', '/roles', { all: '' }),
    ...asked('tokens', '/users/busy/auth_tokens', { all: '' }),
    ...asked('pinned conversations', '/conversations/pinned', { all: '' }),
  ]
}
