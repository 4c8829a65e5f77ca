import { type Static, Type } from 'typebox'
import { limits } from '../../limits.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery, Outcome, oneOf, UrlIn, withErrorCodes } from '../../schemas.ts'
import {
  ModerationDescriptionIn,
  ModerationIdIn,
  ModerationLimit,
  ModerationListMeta,
  ModerationNameIn,
} from './rules.ts'

const { moderation } = limits

export const listCategories = ['word', 'pattern', 'sentence-similarity', 'custom-api', 'prompt'] as const

const Category = {
  ...oneOf(...listCategories),
  description:
    'What the list holds. Beyond the public contract: `custom-api`, the address of an engine, and `prompt`, what a language model is asked to look for',
}

/** Terms in a request: a text or a list. How a text is cut up depends on the category. */
const terms = (description: string) =>
  Type.Optional(
    Type.Unsafe<string | string[]>({
      anyOf: [
        { type: 'string', maxLength: moderation.csvBytes },
        { type: 'array', items: { type: 'string', maxLength: moderation.promptLength } },
      ],
      description,
    }),
  )

const basicAuth = {
  basicAuthEnabled: Type.Optional(Type.Boolean()),
  username: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '^[^:\\u0000-\\u001f]+$' })),
}

/** One revision of a list. Terms stand where its category has them. */
export const KeywordList = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    category: Category,
    isCSV: Type.Boolean({ description: 'Its terms came from a file, and are as they stood there, with their quotes' }),
    searchTerms: Type.Optional(Type.Array(Type.String(), { description: 'Words and patterns' })),
    disallowedSentences: Type.Optional(Type.Array(Type.String(), { description: 'Sentences' })),
    prompts: Type.Optional(Type.Array(Type.String(), { description: 'What a language model is asked to look for' })),
    url: Type.Optional(Type.String({ description: 'The address of an engine' })),
    ...basicAuth,
    createdAt: Type.Integer({ description: 'Epoch seconds' }),
    updatedAt: Type.Integer({ description: 'Epoch seconds; of this revision' }),
    revisionId: Type.String({ description: '`<appId>_<listId>_<n>`, where n counts from 1' }),
    active: Type.Boolean({ description: 'This revision is the current one' }),
    default: Type.Optional(Type.Boolean({ description: 'true on predefined lists' })),
  },
  { additionalProperties: false },
)
export type KeywordList = Static<typeof KeywordList>

/** A list among others has members that only they show. */
const ListedKeywordList = Type.Object(
  {
    ...KeywordList.properties,
    _id: Type.String({ description: '24 hexadecimal characters' }),
    appId: Type.String({ description: '`default` on predefined lists' }),
    __v: Type.Integer(),
  },
  { additionalProperties: false },
)

const fields = {
  name: Type.Optional(ModerationNameIn),
  description: Type.Optional(ModerationDescriptionIn),
  category: Type.Optional(Category),
  searchTerms: terms(
    'a text or a list of texts. Words, separated by commas; patterns, one a line: a comma is part of the pattern',
  ),
  disallowedSentences: terms('a text or a list of texts. Sentences, one a line'),
  prompts: terms('a text, which is one prompt, or a list of prompts'),
  file: Type.Optional(
    withErrorCodes(
      Type.String({
        maxLength: moderation.csvBytes,
        description: 'A CSV file in UTF-8, instead of the terms; in JSON its content',
      }),
      { maxLength: 'ERR_FILE_SIZE_EXCEEDED' },
    ),
  ),
  url: Type.Optional(UrlIn),
  ...basicAuth,
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f]+$' })),
}

const shared = { area: 'Moderation', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const
const one = {
  ...shared,
  path: '/moderation/keywords/{keywordId}',
  params: Type.Object({ keywordId: Type.String() }),
  query: NoQuery,
} as const
const unknownList = ['ERR_KEYWORD_NOT_FOUND'] as const
const written = {
  readsFile: { field: 'file', bytes: moderation.csvBytes },
  bodyLimit: 4 * moderation.csvBytes,
} as const

export const createKeywordList = defineOperation({
  ...shared,
  ...written,
  id: 'create-rule-keyword',
  method: 'POST',
  path: '/moderation/keywords',
  summary: 'Create a list for moderation rules',
  description: `An app can have ${moderation.listsPerApp} besides the predefined ones, with ${moderation.termsPerApp.words} words, ${moderation.termsPerApp.patterns} patterns, ${moderation.termsPerApp.sentences} sentences and ${moderation.promptsPerApp} prompts in all; the words and patterns that stand in rules and their exceptions count too. A word or sentence has up to ${moderation.termLength} characters, a pattern up to ${moderation.patternLength}. A list in JSON has up to ${limits.bodyMembers} terms; a text or a file may have more. With the id of a predefined list that was deleted that one is made again; fields that are left out are as they are shipped.`,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ id: ModerationIdIn, ...fields }),
  answer: enveloped(KeywordList),
  errors: ['ERR_KEYWORD_ALREADY_EXISTS', 'ERR_FILE_SIZE_EXCEEDED'],
})

export const listKeywordLists = defineOperation({
  ...shared,
  id: 'list-rule-keywords',
  method: 'GET',
  path: '/moderation/keywords',
  summary: 'List the lists of moderation rules, newest first',
  description: 'Those of the app, then the predefined ones.',
  params: NoParams,
  query: Type.Object(ModerationLimit),
  answer: Type.Object({ data: Type.Array(ListedKeywordList), meta: ModerationListMeta }),
  errors: [],
})

export const getKeywordList = defineOperation({
  ...one,
  id: 'get-rule-keyword',
  method: 'GET',
  summary: 'Get a list of moderation rules',
  description: 'With its terms, as they are now.',
  answer: enveloped(KeywordList),
  errors: unknownList,
})

export const updateKeywordList = defineOperation({
  ...one,
  ...written,
  id: 'update-rule-keyword',
  method: 'PUT',
  summary: 'Update a list of moderation rules',
  description:
    'Fields that are left out stay unchanged; terms are replaced as a whole. Each update makes a revision of its own, which holds for all rules that use the list, within a second in all processes. The category of a list in use cannot be changed.',
  body: Type.Object(fields),
  answer: enveloped(KeywordList),
  errors: [...unknownList, 'ERR_FILE_SIZE_EXCEEDED'],
})

export const deleteKeywordList = defineOperation({
  ...one,
  id: 'delete-rule-keyword',
  method: 'DELETE',
  summary: 'Delete a list of moderation rules',
  description:
    'A list that a rule uses which is on or in shadow mode cannot be deleted: the answer names those rules. Rules that are off cannot be switched on without it.',
  answer: enveloped(Outcome),
  errors: unknownList,
})

const {
  searchTerms: _searchTerms,
  disallowedSentences: _disallowedSentences,
  prompts: _prompts,
  ...described
} = KeywordList.properties

/** A revision among others: of its terms, which may be very many, how many there are. */
export const KeywordListRevision = Type.Object(
  {
    ...described,
    terms: Type.Integer({ description: 'How many it has' }),
  },
  { additionalProperties: false },
)
export type KeywordListRevision = Static<typeof KeywordListRevision>

/** Beyond the public contract: what a list was before. */
export const listKeywordRevisions = defineOperation({
  ...one,
  id: 'list-keyword-revisions',
  method: 'GET',
  path: '/moderation/keywords/{keywordId}/revisions',
  summary: 'List the revisions of a list, newest first',
  description: 'Each as it was, without its terms. The last 50 are kept, and those that something names.',
  query: Type.Object(ModerationLimit),
  answer: Type.Object({ data: Type.Array(KeywordListRevision), meta: ModerationListMeta }),
  errors: unknownList,
})

export const getKeywordRevision = defineOperation({
  ...one,
  id: 'get-keyword-revision',
  method: 'GET',
  path: '/moderation/keywords/{keywordId}/revisions/{revisionId}',
  summary: 'Get a revision of a list, with its terms',
  description: 'As it was. The last 50 are kept, and those that something names.',
  params: Type.Object({ keywordId: Type.String(), revisionId: Type.String() }),
  answer: enveloped(KeywordList),
  errors: unknownList,
})
