import type { RuleCondition } from '@parley/contract'
import { builtInLists } from './engine/built-in-lists.ts'
import type { ListCategory } from './model.ts'
import { builtInPrompts } from './prompts.ts'
import type { RuleText } from './rules.ts'

/** When what is shipped was written, in epoch seconds: it has no other time until it is changed. */
export const shippedAt = 1_760_000_000

const condition = (id: number, said: Pick<RuleCondition, 'operand' | 'category' | 'value'>): RuleCondition => {
  const isMediaPresent = said.operand === 'image' || said.operand === 'video'
  return { id, isKeywordsReferencePresent: false, isMediaPresent, entity: 'message', operator: 'contains', ...said }
}

const rule = (said: Pick<RuleText, 'name' | 'conditions' | 'actions'> & { description: string }): RuleText => ({
  ...{ mode: 'off', filters: [], exceptions: [] },
  ...said,
})

const profanityList = 'profanity-list'
const phoneNumber = '\\+?[0-9][0-9 ().-]{5,18}[0-9]'
const emailAddress = '[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190}\\.[A-Za-z]{2,24}'

const inTextsAndCustom = (value: string): RuleCondition[] => [
  condition(1, { operand: 'text', category: 'pattern', value: [value] }),
  condition(2, { operand: 'custom', category: 'pattern', value: [value] }),
]

const inList = (operand: 'text' | 'custom'): RuleCondition => ({
  ...condition(1, { operand, category: 'word', value: [profanityList] }),
  isKeywordsReferencePresent: true,
})

const byModel = (...value: string[]): RuleCondition => ({
  ...condition(1, { operand: 'text', category: 'prompt', value }),
  isKeywordsReferencePresent: true,
})

/** The rules that every app has to begin with, all of them off. */
export const predefinedRules: Readonly<Record<string, RuleText>> = {
  'text-profanity-filter': rule({
    name: 'Swear words',
    description: 'Blocks texts with words of the list profanity-list.',
    conditions: [inList('text')],
    actions: ['blockMessage'],
  }),
  'image-moderation': rule({
    name: 'Unsafe pictures',
    description: 'Blocks pictures in which the engine of the app sees anything unsafe.',
    conditions: [condition(1, { operand: 'image', category: 'word', value: ['AnyOf_greaterThan_30'] })],
    actions: ['blockMessage'],
  }),
  'video-moderation': rule({
    name: 'Unsafe videos',
    description: 'Drops videos in which the engine of the app sees anything unsafe.',
    conditions: [condition(1, { operand: 'video', category: 'word', value: ['AnyOf_greaterThan_30'] })],
    actions: ['dropMessage'],
  }),
  'custom-profanity-filter': rule({
    name: 'Swear words in custom data',
    description: 'Drops messages whose custom data have words of the list profanity-list.',
    conditions: [{ ...inList('custom'), isListReferencePresent: true }],
    actions: ['dropMessage'],
  }),
  contact_details_filter: rule({
    name: 'Phone numbers',
    description: 'Blocks messages with phone numbers.',
    conditions: inTextsAndCustom(phoneNumber),
    actions: ['blockMessage'],
  }),
  email_filter: rule({
    name: 'E-mail addresses',
    description: 'Blocks messages with e-mail addresses.',
    conditions: inTextsAndCustom(emailAddress),
    actions: ['blockMessage'],
  }),
  toxicity: rule({
    name: 'Hate and threats',
    description: 'Asks the language model of the app whether a text attacks or threatens anybody.',
    conditions: [byModel('prompt-hate_greaterThan_70', 'prompt-threats_greaterThan_70')],
    actions: ['blockMessage'],
  }),
  spam_filter: rule({
    name: 'Spam and scam',
    description: 'Asks the language model of the app whether a text is advertising or fraud.',
    conditions: [byModel('prompt-spam-scam_greaterThan_70')],
    actions: ['flagMessage'],
  }),
}

/** A list that every app has to begin with. */
export interface PredefinedList {
  readonly name: string
  readonly description: string
  readonly category: ListCategory
  readonly terms: readonly string[]
}

let lists: ReadonlyMap<string, PredefinedList> | undefined

/** The lists that every app has to begin with: words by language, and prompts. They are read when somebody first asks. */
export function predefinedLists(): ReadonlyMap<string, PredefinedList> {
  lists ??= new Map<string, PredefinedList>([
    ...builtInLists().map((list) => [list.listId, list] as const),
    ...builtInPrompts.map(
      ({ listId, name, description, prompts }) =>
        [listId, { name, description, category: 'prompt', terms: prompts }] as const,
    ),
  ])
  return lists
}

/** The reasons for flagging that every app has to begin with. */
export const predefinedReasons: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  spam: { name: 'Spam', description: 'Advertising, or the same again and again' },
  harassment: { name: 'Harassment', description: 'Insults, threats, or pressure on somebody' },
  hate_speech: { name: 'Hate speech', description: 'Contempt for people because of what they are' },
  violence: { name: 'Violence', description: 'Shows or praises violence' },
  inappropriate: { name: 'Inappropriate', description: 'Sexual, or not fit for this place' },
  other: { name: 'Other', description: 'Something else' },
}
