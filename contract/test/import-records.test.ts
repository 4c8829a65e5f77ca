import {
  checkImportGroup,
  checkImportMember,
  checkImportMessage,
  checkImportUser,
  type ImportFlaw,
  limits,
  readEpochSeconds,
  summariseImportFlaws,
} from '@parley/contract'
import { describe, expect, it } from 'vitest'

const now = 1_800_000_000
const user = { uid: 'alice', name: 'Alice' }
const group = { guid: 'team', name: 'Team', type: 'public' }
const member = { memberId: 'team_member_bob', guid: 'team', uid: 'bob' }
const message = {
  muid: 'm1',
  sender: 'bob',
  receiverType: 'user',
  receiver: 'alice',
  category: 'message',
  type: 'text',
  data: { text: 'hi' },
  sentAt: 1_700_000_000,
}
const attachment = { url: 'https://example.com/a.webp', name: 'a.webp', mimeType: 'image/webp', extension: 'webp' }
const userFormat = 'ERR_IMPORT_INVALID_USER_FORMAT'
const groupFormat = 'ERR_IMPORT_INVALID_GROUP_FORMAT'
const memberFormat = 'ERR_IMPORT_INVALID_MEMBER_FORMAT'
const messageFormat = 'ERR_IMPORT_INVALID_MESSAGE_FORMAT'

const at = (flaws: readonly ImportFlaw[]) => flaws.map(({ path, code }) => `${path} ${code}`)
const nested = (depth: number): unknown => (depth === 0 ? 'x' : { inner: nested(depth - 1) })

describe('checkImportUser', () => {
  it.each([
    ['only what is required', user],
    [
      'everything, with times as strings',
      {
        ...user,
        avatar: 'https://example.com/a.png',
        link: 'HTTP://example.com',
        role: 'teacher',
        createdAt: '1700000000',
        lastActiveAt: 1_700_000_006,
        deactivatedAt: 0,
        metadata: { '@private': { email: 'a@example.com' } },
        tags: ['x'],
      },
    ],
    ['an id in capitals', { ...user, uid: 'Alice_1-B' }],
    ['members that the contract does not know', { ...user, shoeSize: 43, status: null }],
    ['a time within the tolerance of the clock', { ...user, createdAt: now + 60 }],
    ['100 characters outside the basic plane', { ...user, name: '😀'.repeat(100) }],
    ['a name full of quotes', { ...user, name: '"\\u0000"' }],
  ])('accepts %s', (_what, record) => {
    expect(checkImportUser(record, { now })).toEqual([])
  })

  it.each([
    ['no object', 'alice', ` ${userFormat}`],
    ['an array', [user], ` ${userFormat}`],
    ['null', null, ` ${userFormat}`],
    ['no uid', { name: 'Alice' }, `uid ${userFormat}`],
    ['a uid that is a number', { ...user, uid: 5 }, `uid ${userFormat}`],
    ['no name', { uid: 'alice' }, `name ${userFormat}`],
    ['a name that is null', { ...user, name: null }, `name ${userFormat}`],
    ['an empty name', { ...user, name: '' }, 'name ERR_BAD_REQUEST'],
    ['a name of 101 characters', { ...user, name: 'x'.repeat(101) }, 'name ERR_BAD_REQUEST'],
    ['a blank in the uid', { ...user, uid: 'al ice' }, 'uid ERR_BAD_REQUEST'],
    ['a uid of 101 characters', { ...user, uid: 'x'.repeat(101) }, 'uid ERR_BAD_REQUEST'],
    ['an avatar that is no URL', { ...user, avatar: 'a.png' }, 'avatar ERR_BAD_REQUEST'],
    ['an avatar with a script', { ...user, avatar: 'javascript:alert(1)' }, 'avatar ERR_BAD_REQUEST'],
    ['a link that cannot be parsed', { ...user, link: 'https://' }, 'link ERR_BAD_REQUEST'],
    ['a link of 3,001 characters', { ...user, link: `https://${'x'.repeat(2993)}` }, 'link ERR_BAD_REQUEST'],
    ['a time that is an object', { ...user, createdAt: {} }, `createdAt ${userFormat}`],
    ['a time in milliseconds', { ...user, createdAt: 1_700_000_000_000 }, 'createdAt ERR_BAD_REQUEST'],
    ['a time before the epoch', { ...user, createdAt: -1 }, 'createdAt ERR_BAD_REQUEST'],
    ['a broken time', { ...user, createdAt: 1.5 }, 'createdAt ERR_BAD_REQUEST'],
    ['a time with a word', { ...user, lastActiveAt: 'today' }, 'lastActiveAt ERR_BAD_REQUEST'],
    ['a time ahead of the clock', { ...user, lastActiveAt: String(now + 61) }, 'lastActiveAt ERR_BAD_REQUEST'],
    ['metadata that is a list', { ...user, metadata: [1] }, `metadata ${userFormat}`],
    ['metadata over 5 KB', { ...user, metadata: { k: 'é'.repeat(2560) } }, 'metadata ERR_BAD_REQUEST'],
    ['26 tags', { ...user, tags: Array(26).fill('x') }, 'tags ERR_BAD_REQUEST'],
    ['a tag of 101 characters', { ...user, tags: ['x'.repeat(101)] }, 'tags/0 ERR_BAD_REQUEST'],
    ['a tag that is a number', { ...user, tags: ['x', 1] }, `tags/1 ${userFormat}`],
    ['a NUL character somewhere deep', { ...user, metadata: { a: ['\0'] } }, 'metadata/a/0 ERR_BAD_REQUEST'],
    ['a NUL character in a member name', { ...user, metadata: { 'a\0': 1 } }, 'metadata ERR_BAD_REQUEST'],
  ])('refuses %s', (_what, record, expected) => {
    expect(at(checkImportUser(record, { now }))).toEqual([expected])
  })

  it('refuses what is nested too deep, and does not overflow the stack on what is nested far deeper', () => {
    const [found] = checkImportUser({ ...user, metadata: nested(100) }, { now })
    expect(found).toMatchObject({ code: 'ERR_BAD_REQUEST', message: expect.stringContaining('nested') })
    const text = `{"uid":"a","name":"A","metadata":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(checkImportUser(JSON.parse(text), { now })).toHaveLength(1)
  })

  it('accepts a key in other capitals than the own id and refuses another key', () => {
    expect(checkImportUser(user, { now, key: 'ALICE' })).toEqual([])
    expect(at(checkImportUser(user, { now, key: 'bob' }))).toEqual([`uid ${userFormat}`])
  })

  it('names every flaw of the shape, not only the first', () => {
    expect(at(checkImportUser({ tags: 'x', createdAt: 'x' }, { now })).toSorted()).toEqual(
      [`name ${userFormat}`, `uid ${userFormat}`, `tags ${userFormat}`, 'createdAt ERR_BAD_REQUEST'].toSorted(),
    )
  })
})

describe('checkImportGroup', () => {
  it.each([
    ['only what is required', group],
    ['a password group', { ...group, type: 'password', password: 'secret' }],
    ['an owner with his details', { ...group, owner: 'Alice', groupOwnerDetails: user }],
  ])('accepts %s', (_what, record) => {
    expect(checkImportGroup(record, { now })).toEqual([])
  })

  it.each([
    ['no type', { guid: 'team', name: 'Team' }, `type ${groupFormat}`],
    ['an unknown type', { ...group, type: 'secret' }, 'type ERR_BAD_REQUEST'],
    ['a type that is a number', { ...group, type: 1 }, `type ${groupFormat}`],
    ['a password group without password', { ...group, type: 'password' }, `password ${groupFormat}`],
    ['a password of 101 characters', { ...group, password: 'x'.repeat(101) }, 'password ERR_BAD_REQUEST'],
    ['an icon that is no URL', { ...group, icon: 'ftp://example.com/i.png' }, 'icon ERR_BAD_REQUEST'],
    ['an impossible owner', { ...group, owner: 'a b' }, 'owner ERR_BAD_REQUEST'],
    [
      'details of another owner',
      { ...group, owner: 'bob', groupOwnerDetails: user },
      `groupOwnerDetails/uid ${groupFormat}`,
    ],
    [
      'owner details without a name',
      { ...group, groupOwnerDetails: { uid: 'a' } },
      `groupOwnerDetails/name ${groupFormat}`,
    ],
    [
      'owner details with a bad avatar',
      { ...group, groupOwnerDetails: { ...user, avatar: 'x' } },
      'groupOwnerDetails/avatar ERR_BAD_REQUEST',
    ],
  ])('refuses %s', (_what, record, expected) => {
    expect(at(checkImportGroup(record, { now }))).toEqual([expected])
  })
})

describe('checkImportMember', () => {
  it.each([
    ['only what is required', member],
    [
      'everything',
      {
        ...member,
        scope: 'admin',
        isBanned: false,
        joinedAt: '1700000000',
        groupDetails: group,
        userDetails: { uid: 'Bob', name: 'Bob' },
      },
    ],
    ['ids in capitals', { ...member, memberId: 'TEAM_member_Bob', guid: 'Team' }],
  ])('accepts %s', (_what, record) => {
    expect(checkImportMember(record, { now })).toEqual([])
  })

  it.each([
    ['no memberId', { guid: 'team', uid: 'bob' }, `memberId ${memberFormat}`],
    ['a memberId of somebody else', { ...member, memberId: 'team_member_carol' }, `memberId ${memberFormat}`],
    ['an unknown scope', { ...member, scope: 'owner' }, 'scope ERR_BAD_REQUEST'],
    ['isBanned as a string', { ...member, isBanned: 'true' }, `isBanned ${memberFormat}`],
    ['a time of joining ahead of the clock', { ...member, joinedAt: now + 61 }, 'joinedAt ERR_IMPORT_INVALID_JOINEDAT'],
    ['a time of joining that is no time', { ...member, joinedAt: 'x' }, 'joinedAt ERR_BAD_REQUEST'],
    [
      'details of another group',
      { ...member, groupDetails: { ...group, guid: 'x' } },
      `groupDetails/guid ${memberFormat}`,
    ],
    [
      'group details without type',
      { ...member, groupDetails: { guid: 'team', name: 'T' } },
      `groupDetails/type ${memberFormat}`,
    ],
    ['details of another user', { ...member, userDetails: user }, `userDetails/uid ${memberFormat}`],
  ])('refuses %s', (_what, record, expected) => {
    expect(at(checkImportMember(record, { now }))).toEqual([expected])
  })
})

describe('checkImportMessage', () => {
  const { category: _category, type: _type, ...bare } = message
  const image = { ...message, type: 'image', data: { attachments: [attachment] } }
  /** As records of lists are: a chat system took it, and gave it an id. */
  const known = { id: '7' }

  it.each([
    ['message', message],
    ['custom', { ...message, category: 'custom', type: 'item', data: { customData: {} } }],
    ['interactive', { ...message, category: 'interactive', type: 'card', data: { interactiveData: {} } }],
  ])('refuses an attachment without a web address in category %s', (_category, record) => {
    const data = { ...record.data, attachments: [{ ...attachment, url: 'javascript:x' }] }
    expect(at(checkImportMessage({ ...record, data }, { now }))).toEqual(['data/attachments/0/url ERR_BAD_REQUEST'])
  })

  it.each([
    ['a text', message],
    ['a text without category and type', bare],
    ['an empty text', { ...message, data: { text: '' } }],
    [
      'a text with attachments and unknown members of data',
      {
        ...message,
        sentAt: '1700000000',
        deliveredAt: '1700000100',
        readAt: '1700000100',
        data: {
          text: 'hi',
          attachments: [{ ...attachment, size: '350.2' }],
          metadata: { k: 'v' },
          custodata: { k: 'v' },
        },
      },
    ],
    ['an image', image],
    ['an attachment with its size as a number', { ...image, data: { attachments: [{ ...attachment, size: 12 }] } }],
    [
      'an attachment with an id of which nothing but its url is known',
      { ...image, ...known, data: { attachments: [{ url: attachment.url }] } },
    ],
    [
      'an attachment with an id and a size of any kind',
      { ...image, ...known, data: { attachments: [{ ...attachment, size: [12] }] } },
    ],
    ['an image with an id that is named by data.url alone', { ...image, ...known, data: { url: attachment.url } }],
    ['the same with an empty list', { ...image, ...known, data: { url: attachment.url, attachments: [] } }],
    ['metadata with an id that is a list', { ...message, ...known, data: { text: 'hi', metadata: [1] } }],
    ['customData of a text with an id', { ...message, ...known, data: { text: 'hi', customData: 'x' } }],
    [
      'a custom message with an id, a list, and a text that is none',
      { ...message, ...known, category: 'custom', type: 'poll', data: { customData: [1], text: { en: 'hi' } } },
    ],
    [
      'a custom message of any type',
      { ...message, category: 'custom', type: 'extension_poll', data: { customData: {} } },
    ],
    ['an interactive message', { ...message, category: 'interactive', type: 'card', data: { interactiveData: {} } }],
    ['a call', { ...message, category: 'call', type: 'audio', data: { action: 'ended' } }],
    ['a deleted message without content', { ...bare, data: undefined, deletedAt: 1_700_000_100 }],
    [
      'a reply with reactions',
      { ...message, parentMuid: 'm0', editedAt: 1_700_000_001, reactions: { '👍': ['alice', 'bob'] } },
    ],
    [
      'a message to a group with its details',
      {
        ...message,
        receiverType: 'group',
        receiver: 'team',
        receiverGroupDetails: { ...group, owner: 'alice' },
        receiverGroupOwnerDetails: user,
      },
    ],
    [
      'details of everybody',
      {
        ...message,
        senderUserDetails: { uid: 'BOB', name: 'Bob' },
        receiverUserDetails: { ...user, type: 'public', owner: 5 },
        mentionedUserDetails: { carol: { uid: 'carol', name: 'Carol' } },
      },
    ],
    ['broken surrogates, which the service mends', { ...message, data: { text: 'a\ud800' } }],
    ['attachments that go beyond the limit of data', { ...image, data: { attachments: Array(80).fill(attachment) } }],
  ])('accepts %s', (_what, record) => {
    expect(checkImportMessage(record, { now })).toEqual([])
  })

  it.each([
    ['no muid', { ...message, muid: undefined }, `muid ${messageFormat}`],
    ['an empty muid', { ...message, muid: '' }, 'muid ERR_BAD_REQUEST'],
    ['no sender', { ...message, sender: undefined }, `sender ${messageFormat}`],
    ['a receiver that is a number', { ...message, receiver: 1 }, `receiver ${messageFormat}`],
    ['an unknown receiverType', { ...message, receiverType: 'channel' }, 'receiverType ERR_BAD_REQUEST'],
    ['no sentAt', { ...message, sentAt: undefined }, `sentAt ${messageFormat}`],
    ['a sentAt ahead of the clock', { ...message, sentAt: now + 61 }, 'sentAt ERR_BAD_REQUEST'],
    ['a readAt ahead of the clock', { ...message, readAt: now + 61 }, 'readAt ERR_BAD_REQUEST'],
    ['an unknown category', { ...message, category: 'gossip' }, 'category ERR_BAD_REQUEST'],
    ['an unknown type', { ...message, type: 'sticker' }, 'type ERR_BAD_REQUEST'],
    [
      'a custom message without type',
      { ...bare, category: 'custom', data: { customData: {} } },
      `type ${messageFormat}`,
    ],
    [
      'a custom message without customData',
      { ...message, category: 'custom', type: 'x', data: {} },
      `data/customData ${messageFormat}`,
    ],
    [
      'customData that is a text',
      { ...message, category: 'custom', type: 'x', data: { customData: 'x' } },
      `data/customData ${messageFormat}`,
    ],
    ['no data', { ...message, data: undefined }, `data ${messageFormat}`],
    ['a text message without text', { ...message, data: {} }, `data/text ${messageFormat}`],
    ['a text that is a number', { ...message, data: { text: 5 } }, `data/text ${messageFormat}`],
    [
      'an image without attachments',
      { ...message, type: 'image', data: { text: 'x' } },
      `data/attachments ${messageFormat}`,
    ],
    ['an image with an empty list', { ...image, data: { attachments: [] } }, `data/attachments ${messageFormat}`],
    [
      'an image that is named by data.url alone',
      { ...image, data: { url: attachment.url } },
      `data/attachments ${messageFormat}`,
    ],
    ['an image with an id and a bad url', { ...image, ...known, data: { url: 'x' } }, 'data/url ERR_BAD_REQUEST'],
    [
      'attachments with an id that are no list',
      { ...image, ...known, data: { attachments: {} } },
      `data/attachments ${messageFormat}`,
    ],
    [
      'an attachment with an id that is none',
      { ...image, ...known, data: { attachments: [null] } },
      `data/attachments/0 ${messageFormat}`,
    ],
    [
      'an attachment with an id and without url',
      { ...image, ...known, data: { attachments: [{ ...attachment, url: undefined }] } },
      `data/attachments/0/url ${messageFormat}`,
    ],
    [
      'an attachment without mimeType',
      { ...image, data: { attachments: [{ ...attachment, mimeType: undefined }] } },
      `data/attachments/0/mimeType ${messageFormat}`,
    ],
    [
      'an attachment with a bad url',
      { ...image, data: { attachments: [attachment, { ...attachment, url: 'x' }] } },
      'data/attachments/1/url ERR_BAD_REQUEST',
    ],
    [
      'metadata with an id that is a text',
      { ...message, ...known, data: { text: '', metadata: 'x' } },
      `data/metadata ${messageFormat}`,
    ],
    ['metadata that is a list', { ...message, data: { text: '', metadata: [1] } }, `data/metadata ${messageFormat}`],
    [
      'a size that is a list',
      { ...image, data: { attachments: [{ ...attachment, size: [] }] } },
      `data/attachments/0/size ${messageFormat}`,
    ],
    [
      'customData with an id that is null',
      { ...message, ...known, category: 'custom', type: 'x', data: { customData: null } },
      `data/customData ${messageFormat}`,
    ],
    ['data over 10 KB', { ...message, data: { text: 'x'.repeat(limits.messageDataBytes) } }, 'data ERR_BAD_REQUEST'],
    [
      'metadata over 5 KB',
      { ...message, data: { text: '', metadata: { k: 'x'.repeat(5200) } } },
      'data/metadata ERR_BAD_REQUEST',
    ],
    [
      'attachments beyond a whole message',
      { ...image, data: { attachments: Array(1000).fill(attachment) } },
      'data ERR_BAD_REQUEST',
    ],
    ['itself as its parent', { ...message, parentMuid: 'm1' }, 'parentMuid ERR_BAD_REQUEST'],
    [
      '26 reactions',
      { ...message, reactions: Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`r${i}`, ['a']])) },
      'reactions ERR_BAD_REQUEST',
    ],
    ['a reaction of 46 characters', { ...message, reactions: { ['x'.repeat(46)]: [] } }, 'reactions ERR_BAD_REQUEST'],
    [
      'a reaction given in the future',
      { ...message, reactions: { x: ['bob', { uid: 'alice', reactedAt: 9_999_999_999 }] } },
      'reactions/x ERR_BAD_REQUEST',
    ],
    ['a reaction without a list', { ...message, reactions: { x: 'alice' } }, `reactions/x ${messageFormat}`],
    ['details of another sender', { ...message, senderUserDetails: user }, `senderUserDetails/uid ${messageFormat}`],
    [
      'details of another receiver',
      { ...message, receiverUserDetails: { uid: 'x', name: 'X' } },
      `receiverUserDetails/uid ${messageFormat}`,
    ],
    [
      'a mentioned user under another key',
      { ...message, mentionedUserDetails: { bob: user } },
      `mentionedUserDetails/bob/uid ${messageFormat}`,
    ],
    [
      'a mentioned user without name',
      { ...message, mentionedUserDetails: { bob: { uid: 'bob' } } },
      `mentionedUserDetails/bob/name ${messageFormat}`,
    ],
    [
      'details of another group',
      { ...message, receiverType: 'group', receiver: 'x', receiverGroupDetails: group },
      `receiverGroupDetails/guid ${messageFormat}`,
    ],
  ])('refuses %s', (_what, record, expected) => {
    // As JSON has it: members that are undefined are not there.
    expect(at(checkImportMessage(JSON.parse(JSON.stringify(record)), { now }))).toEqual([expected])
  })

  it('compares a muid with its key exactly', () => {
    expect(checkImportMessage(message, { now, key: 'm1' })).toEqual([])
    expect(at(checkImportMessage(message, { now, key: 'M1' }))).toEqual([`muid ${messageFormat}`])
  })
})

describe('summariseImportFlaws', () => {
  it('lets a wrong shape weigh more than an impossible time of joining, and that more than a wrong value', () => {
    const flaws = checkImportMember(
      { ...member, memberId: 'x', joinedAt: now + 61, userDetails: { uid: 'bob', name: 'B', link: 'x' } },
      { now },
    )
    expect(summariseImportFlaws(flaws).code).toBe(memberFormat)
    expect(summariseImportFlaws(flaws.slice(1)).code).toBe('ERR_IMPORT_INVALID_JOINEDAT')
    expect(summariseImportFlaws(flaws.slice(2))).toEqual({
      code: 'ERR_BAD_REQUEST',
      devMessage: 'userDetails/link must be a valid http or https URL',
      details: [{ path: 'userDetails/link', message: 'must be a valid http or https URL' }],
    })
  })

  it('says what would be right', () => {
    const say = (record: unknown) => summariseImportFlaws(checkImportUser(record, { now })).devMessage
    expect(say(5)).toBe('the record must be object')
    expect(say({ ...user, createdAt: 'x' })).toBe(
      'createdAt must be epoch seconds, an integer or a decimal string of at most ten digits',
    )
    expect(summariseImportFlaws(checkImportGroup({ ...group, type: 'x' }, { now })).devMessage).toBe(
      'type must be one of public, password, private',
    )
  })
})

describe('readEpochSeconds', () => {
  it.each([
    [0, 0],
    ['0', 0],
    [1_700_000_000, 1_700_000_000],
    ['1700000000', 1_700_000_000],
    [9_999_999_999, 9_999_999_999],
    [10_000_000_000, undefined],
    ['17000000000', undefined],
    [-1, undefined],
    [1.5, undefined],
    ['', undefined],
    [' 1', undefined],
    ['1e3', undefined],
    [null, undefined],
    [true, undefined],
  ])('reads %j as %j', (value, expected) => {
    expect(readEpochSeconds(value)).toBe(expected)
  })
})
