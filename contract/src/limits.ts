const KB = 1024
const MB = 1024 * KB

/**
 * The limits of the contract. Lengths are in characters (code points of the text as sent), sizes in bytes of UTF-8.
 * Reaching one that has no error code of its own is a 400 `ERR_BAD_REQUEST` that names it.
 *
 * Hosted services also stop counting unread messages above 300 members, receipts above 300 and typing above 1,000
 * users online. Those are no limits here: such figures are exact at any size.
 */
export const limits = {
  // Identifiers and profiles

  /** Characters of a uid: `a-z 0-9 - _`, stored and compared in lower case. */
  uidLength: 100,
  /** Characters of a guid, made up like a uid. */
  guidLength: 100,
  /** Characters of a role id, made up like a uid. */
  roleIdLength: 100,
  /** Characters of the name of a user, group, role or API key. */
  nameLength: 100,
  /** Characters of the description of a group or role. */
  descriptionLength: 255,
  /** Characters of an `avatar`, `icon` or `link`. */
  urlLength: 3000,
  /** Bytes of the JSON text of the `metadata` of a user, group or message. That of a role has no limit of its own. */
  metadataBytes: 5 * KB,
  /** Characters of the password of a group. */
  groupPasswordLength: 100,
  /** Tags on one user, group, message or conversation. */
  tags: 25,
  /** Characters of a tag. */
  tagLength: 100,

  // Apps

  /** Characters of the name of an app. */
  appNameLength: 100,
  /** Collaborators of one app (Management API). */
  collaboratorsPerApp: 25,
  /** Roles of one app, the default role among them. */
  rolesPerApp: 25,
  /** API keys of one app. */
  apiKeysPerApp: 25,
  /** Hexadecimal characters of an API key. */
  apiKeyLength: 40,
  /** Bots of one app. */
  botsPerApp: 25,
  /** Active auth tokens of one user; a new one beyond that makes the oldest invalid. */
  authTokensPerUser: 100,

  // Groups, members, friends

  /** Members of one group; the next one is refused with `ERR_PLAN_QUOTA_RESTRICTION`. */
  membersPerGroup: 100_000,
  /** Groups that one user is a member of. */
  groupsPerUser: 2000,
  /** Uids in one request that adds members, over all four lists together; also when creating a group. */
  membersPerRequest: 25,
  /** Friends of one user. */
  friendsPerUser: 1000,
  /** Uids in one request that adds friends. */
  friendsPerRequest: 25,

  // Messages and conversations

  /** Bytes of the JSON text of the `metadata` of a typing frame. */
  typingMetadataBytes: 1 * KB,
  /** Largest message id: ids are positive integers that a double holds exactly. */
  messageId: Number.MAX_SAFE_INTEGER,
  /** Characters of the JSON text of a whole message, its metadata included. */
  messageLength: 65_536,
  /** Bytes of the JSON text of `data`; the files of attachments do not count. */
  messageDataBytes: 10 * KB,
  /** Files that one message may come with. */
  filesPerMessage: 10,
  /** Distinct users mentioned in one message. */
  mentionsPerMessage: 10,
  /** Distinct reactions on one message, however many users gave each. */
  reactionsPerMessage: 25,
  /** Characters of one reaction; an emoji may be several. */
  reactionLength: 45,
  /** Pinned messages of one conversation, pins of the app and of users together. */
  pinnedMessagesPerConversation: 100,
  /** Saved messages of one user. */
  savedMessagesPerUser: 100,
  /** Conversations that one user has pinned. */
  pinnedConversationsPerUser: 5,
  /** Conversations that are pinned for the whole app. */
  pinnedConversationsPerApp: 5,
  /** Users in one call. */
  callParticipants: 50,

  // Permissions (decided here, the contract names none)

  /** Values in the list of one permission. */
  permissionValues: 100,
  /** Characters of one value of a permission. */
  permissionValueLength: 255,

  // Lists

  /** `perPage` of page lists. */
  perPage: { default: 100, max: 1000 },
  /** `limit` of message lists and other cursor lists. */
  limit: { default: 10, max: 1000 },
  /** `limit` of lists of reactions. */
  reactionLimit: { default: 100, max: 1000 },
  /** `limit` of thread lists. */
  threadLimit: { default: 100, max: 1000 },
  /** `limit` of the queues and rules of moderation. */
  moderationLimit: { default: 50, max: 1000 },
  /** Entries on one page of the notification logs. */
  notificationLogLimit: { default: 20, max: 1000 },

  // Data import

  /** Records in one call; a setting can change it. */
  importRecords: 1000,
  /** Seconds that a time in an imported record may lie ahead of the clock. */
  importSecondsAhead: 60,

  /** Bytes of a request body; beyond it 413 `ERR_BAD_REQUEST`. */
  bodyBytes: {
    /** JSON, everywhere but in data import. */
    json: MB,
    /** JSON of a data import. */
    import: 16 * MB,
    /** A message with its files. */
    upload: 100 * MB,
  },

  /** Requests a minute; beyond it 429 `ERR_TOO_MANY_REQUESTS`. Settings can change them. */
  requestsPerMinute: {
    /** Connecting, creating and deleting users, creating, joining and leaving groups; of one app together. */
    core: 10_000,
    /** Everything else; of one app together. */
    standard: 20_000,
    /** Data import; of one app together. */
    import: 60,
    /** Sending messages, of one user. */
    sendPerUser: 30,
    /** Marking conversations as unread, of one user. */
    markUnreadPerUser: 5,
  },

  webhooks: {
    perApp: 25,
    /** Characters of an id: letters and digits. */
    idLength: 50,
    nameLength: 50,
    urlLength: 255,
    /** Characters of the user name of basic auth: letters and digits. */
    usernameLength: 50,
    /** Characters of the password of basic auth: letters and digits. */
    passwordLength: 100,
    /** Seconds within which a receiver must answer. */
    timeoutSeconds: 2,
    /** Seconds between attempts with `retryOnFailure`; the first two are those of the contract. A setting. */
    retryDelaysSeconds: [10, 30, 300, 1800, 7200, 18_000, 36_000, 36_000],
  },

  moderation: {
    /** Characters of the id of a rule or list: no blanks, no special characters. */
    idLength: 100,
    nameLength: 100,
    descriptionLength: 255,
    filtersPerRule: 10,
    conditionsPerRule: 10,
    /** Rules of one app, beside those that it starts with. */
    rulesPerApp: 25,
    /** Lists of one app, beside those that it starts with. */
    listsPerApp: 25,
    /** Bytes of a CSV file of terms. */
    csvBytes: MB,
    /** Characters of one term of a list. */
    termLength: 100,
    /** Messages that go along as context to an engine. */
    contextMessages: 50,
    /** Reasons for flagging, of one app, beside those that it starts with. */
    reasonsPerApp: 5,
  },

  notifications: {
    /** Members of the largest group that is notified, by channel. */
    groupSize: { push: 1000, email: 30, sms: 30 },
    /** Active push tokens of one user; each auth token has one at most. */
    pushTokensPerUser: 100,
    /** Characters of a push token. */
    pushTokenLength: 4096,
    /** Characters of one SMS; longer texts are split. */
    smsLength: 160,
    /** Least seconds between two e-mails, or two SMS, to one user. */
    secondsBetween: 60,
  },
} as const
