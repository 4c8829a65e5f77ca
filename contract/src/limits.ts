const KB = 1024
const MB = 1024 * KB

/**
 * The limits of the contract. Lengths are in characters (code points of the text as sent), sizes in bytes of UTF-8.
 * Exceeding a limit without an error code of its own is a 400 `ERR_BAD_REQUEST` that names the limit. Where the app
 * (`app-settings.ts`) or the service (docs/configuration.md) has a setting for a limit, the figure here is its default.
 *
 * Hosted services also stop counting unread messages and receipts above 300 members, and typing above 1,000 users
 * online. There are no such limits here: these figures are exact at any size.
 */
export const limits = {
  // Identifiers and profiles

  /** Characters of a uid: `a-z 0-9 - _`, stored and compared in lower case. */
  uidLength: 100,
  /** Characters of a guid, with the same alphabet as a uid. */
  guidLength: 100,
  /** Characters of a role id, with the same alphabet as a uid. */
  roleIdLength: 100,
  /** Characters of the name of a user, group, role or API key. */
  nameLength: 100,
  /** Characters of the description of a group or role. */
  descriptionLength: 255,
  /** Characters of the `statusMessage` of a user. */
  statusMessageLength: 255,
  /** Characters of an `avatar`, `icon` or `link`. */
  urlLength: 3000,
  /** Bytes of `metadata` of a user, group or message, as JSON. The `metadata` of a role has no limit of its own. */
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
  /** Active auth tokens of one user; another one beyond this limit invalidates the oldest. */
  authTokensPerUser: 100,

  // Groups, members, friends

  /** Members of one group; beyond it `ERR_PLAN_QUOTA_RESTRICTION`. */
  membersPerGroup: 100_000,
  /** Groups that one user is a member of. */
  groupsPerUser: 2000,
  /** Uids in one request that adds members, in all four lists together; also when a group is created. */
  membersPerRequest: 25,
  /** Friends of one user. */
  friendsPerUser: 1000,
  /** Uids in one request that adds or removes friends. */
  friendsPerRequest: 25,

  // Messages and conversations

  /** Bytes of the `metadata` of a typing frame, as JSON. */
  typingMetadataBytes: 1 * KB,
  /** Largest message id: ids are positive integers that a JavaScript number represents exactly. */
  messageId: Number.MAX_SAFE_INTEGER,
  /** Characters of a whole message as JSON, including its metadata. */
  messageLength: 65_536,
  /** Bytes of `data` as JSON; attached files do not count. */
  messageDataBytes: 10 * KB,
  /** Files in one message. */
  filesPerMessage: 10,
  /** Distinct users mentioned in one message. */
  mentionsPerMessage: 10,
  /** Distinct reactions on one message, each from any number of users. */
  reactionsPerMessage: 25,
  /** Characters of one reaction; an emoji may have several. */
  reactionLength: 45,
  /** Pinned messages of one conversation, pinned by the app and by users together. */
  pinnedMessagesPerConversation: 100,
  /** Saved messages of one user. */
  savedMessagesPerUser: 100,
  /** Conversations that one user has pinned. */
  pinnedConversationsPerUser: 5,
  /** Conversations that are pinned for the whole app. */
  pinnedConversationsPerApp: 5,
  /** Users in one call. */
  callParticipants: 50,

  // Permissions (not set by the contract)

  /** Values in the list of one permission. */
  permissionValues: 100,
  /** Characters of one value of a permission. */
  permissionValueLength: 255,

  // Lists

  /** Rows of a page list up to the end of the last page that a user can ask for; the app may read on. */
  listedRows: 10_000,
  /** Hits of a search that are counted; where there are more, the answer is this many, with `meta.countAtLeast`. */
  countedHits: 10_000,
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

  /** Records in one call. */
  importRecords: 1000,
  /** Highest id of a message that an import takes as it is. */
  importedMessageId: 999_999_999_999,
  /** Seconds that a time in an imported record may be in the future. */
  importSecondsAhead: 60,

  /** Bytes of a request body; beyond it 413 `ERR_BAD_REQUEST`. */
  bodyBytes: {
    /** JSON, where nothing larger is meant. */
    json: 128 * KB,
    /** JSON of a role, whose metadata have no limit of their own. */
    role: MB,
    /** JSON of a data import. */
    import: 16 * MB,
    /** A message with its files. */
    upload: 100 * MB,
  },

  /** Megabytes that one user can upload on one day. */
  uploadMegabytesPerDay: 2000,

  /** Members and items of all objects and lists in a JSON body, but in data import; beyond it 413 `ERR_BAD_REQUEST`. */
  bodyMembers: 10_000,

  /** Requests per minute; beyond it 429 `ERR_TOO_MANY_REQUESTS`. */
  requestsPerMinute: {
    /** Logging in, creating and deleting users, creating, joining and leaving groups; per app. */
    core: 10_000,
    /** Everything else; per app. */
    standard: 20_000,
    /** Data import; per app. */
    import: 60,
    /** Sending messages; per user. */
    sendPerUser: 30,
    /** Marking conversations as unread; per user. */
    markUnreadPerUser: 5,
  },

  webhooks: {
    perApp: 25,
    /** Characters of an id: letters and digits. */
    idLength: 50,
    nameLength: 50,
    urlLength: 255,
    /** Characters of the basic auth user name: letters and digits. */
    usernameLength: 50,
    /** Characters of the basic auth password: letters and digits. */
    passwordLength: 100,
    /** Seconds within which the endpoint must respond. */
    timeoutSeconds: 2,
    /** Seconds between attempts with `retryOnFailure`; the first two are set by the contract. */
    retryDelaysSeconds: [10, 30, 300, 1800, 7200, 18_000, 36_000, 36_000],
  },

  moderation: {
    /** Characters of the id of a rule or list: no blanks, no special characters. */
    idLength: 100,
    nameLength: 100,
    descriptionLength: 255,
    filtersPerRule: 10,
    conditionsPerRule: 10,
    /** Rules of one app, besides the predefined ones. */
    rulesPerApp: 25,
    /** Lists of one app, besides the predefined ones. */
    listsPerApp: 25,
    /** Bytes of a CSV file of terms. */
    csvBytes: MB,
    /** Characters of one word of a list. */
    termLength: 100,
    /** Characters of one pattern. */
    patternLength: 500,
    /** Terms of all lists and rules of one app together, besides predefined ones that were not changed (not set by the contract). */
    termsPerApp: {
      words: 200_000,
      /** Characters of those words. */
      wordCharacters: 2_000_000,
      /** Every message is compared with each of them. */
      patterns: 200,
      /** Instructions of those patterns, as they are compiled: `[a-z]{1,50}` has a hundred. */
      patternInstructions: 20_000,
      sentences: 10_000,
    },
    /** Characters of one prompt of a list (not set by the contract). */
    promptLength: 4000,
    /** Prompts of all lists of one app together, besides predefined ones that were not changed (not set by the contract). */
    promptsPerApp: 100,
    /** Characters of what a user says when they flag a message, and of a note of a reviewer. */
    remarkLength: 1000,
    noteLength: 5000,
    notesPerMessage: 100,
    /** Messages that one request decides about, or claims. */
    decisionsPerRequest: 100,
    /** Messages sent to an engine as context. */
    contextMessages: 50,
    /** Characters of the address of an engine. */
    urlLength: 1000,
    /** Reasons for flagging of one app, besides the predefined ones. */
    reasonsPerApp: 5,
  },

  notifications: {
    /** Members of the largest group that gets notifications, by channel. */
    groupSize: { push: 1000, email: 30, sms: 30 },
    /** Active push tokens of one user; each auth token has at most one. */
    pushTokensPerUser: 100,
    /** Characters of a push token. */
    pushTokenLength: 4096,
    /** Characters of the endpoint of a browser's subscription; those of the push services have some hundreds. */
    endpointLength: 2000,
    /** Characters of one SMS; longer texts are split. */
    smsLength: 160,
    /** Minimum seconds between two e-mails, or two SMS, to one user. */
    secondsBetween: 60,
    /** Characters of one text of a template. */
    templateLength: 1000,
    /** Bytes of `customJson`, which goes with every push, as JSON: a whole push has 4,096. */
    customJsonBytes: 2 * KB,
    /** Characters before the `@` of an address for replies: 64 (RFC 5321) without `+` and the token. */
    replyMailboxLength: 24,
    /** Bytes of an e-mail that is taken as a reply: raw, and as a form with its attachments. */
    mailBytes: { raw: 10 * MB, form: 32 * MB },
    /** Characters of the text of an e-mail in which the reply is looked for; of HTML, three times that. */
    mailTextLength: 100 * KB,
    /** Conversations in one request that mutes or unmutes. */
    mutesPerRequest: 100,
    /** Conversations that one user has muted. */
    mutesPerUser: 5000,
  },
} as const
