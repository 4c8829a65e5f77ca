import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'

const text = Type.String({ maxLength: limits.notifications.templateLength })

const titles = { titleOneOnOne: text, titleGroup: text }
const plain = { ...titles, body: text }
const withFallback = { ...plain, body_fallback: text }
const media = { ...titles, body_image: text, body_audio: text, body_video: text, body_file: text }
const userMention = { ...titles, bodyOneOnOne: text, bodyGroup: text, body_fallback: text }
const groupMention = { titleGroup: text, body: text, body_fallback: text }
const subject = { subjectGroup: text, subjectOneOnOne: text }
const sms = { bodyGroup: text, bodyOneOnOne: text }

/** Each kind of template: its members. There are two of each, `...Default` and `...Privacy`. */
export const templateKinds = {
  textMessageTemplate: plain,
  mediaMessageTemplate: media,
  pollMessageTemplate: withFallback,
  reminderMessageTemplate: withFallback,
  customMessageTemplate: withFallback,
  interactiveFormTemplate: plain,
  interactiveCardTemplate: plain,
  interactiveSchedulerTemplate: plain,
  interactiveCustomTemplate: plain,
  emailSubjectTemplate: subject,
  smsContentTemplate: sms,
  userMentionTemplate: userMention,
  groupMentionTemplate: groupMention,
} as const

export type TemplateKind = keyof typeof templateKinds

/** Which templates hold: those that show what was written, those that do not, or as each user chooses. */
export const usePrivacyTemplate = Type.Integer({
  minimum: 1,
  maximum: 3,
  description: '1 default templates, 2 privacy templates, 3 default templates unless the user chooses privacy',
})

type TemplateSchemas = {
  [Name in `${TemplateKind}Default` | `${TemplateKind}Privacy`]: ReturnType<typeof Type.Object>
}

const both = (make: (members: Record<string, typeof text>) => unknown, kinds: readonly TemplateKind[]) =>
  Object.fromEntries(
    kinds.flatMap((kind) =>
      ['Default', 'Privacy'].map((version) => [`${kind}${version}`, make(templateKinds[kind] as never)]),
    ),
  )

const all = Object.keys(templateKinds) as TemplateKind[]
/** Preferences of a user are answered without those of e-mail, SMS and mentions. */
const ofPush = all.slice(0, all.indexOf('emailSubjectTemplate'))
const whole = (members: Record<string, typeof text>) => Type.Object(members, { additionalProperties: false })

export const Templates = Type.Object(
  { usePrivacyTemplate, ...(both(whole, all) as TemplateSchemas) },
  { additionalProperties: false },
)
export const PushTemplates = Type.Object(
  { usePrivacyTemplate, ...(both(whole, ofPush) as Partial<TemplateSchemas>) },
  { additionalProperties: false },
)
export const TemplatesIn = Type.Partial(
  Type.Object({
    usePrivacyTemplate,
    ...(both((members) => Type.Partial(Type.Object(members)), all) as TemplateSchemas),
  }),
)

const sender = '{{message.data.entities.sender.entity.name}}'
const between = { titleOneOnOne: sender, titleGroup: `${sender} @ {{message.data.entities.receiver.entity.name}}` }
const anything = 'New message'
const said = '{{message.data.text}}'
const same = (body: string) => ({ ...between, body })
const fallback = (body: string, body_fallback: string) => ({ ...between, body, body_fallback })
const unread = {
  subjectGroup: 'Unread messages in {{groupDetails.name}}',
  subjectOneOnOne: 'Unread messages from {{senderDetails.name}}',
}
const unreadText = {
  bodyGroup: 'You have {{messages.length | unread message | unread messages}} in {{groupDetails.name}}.',
  bodyOneOnOne: 'You have {{messages.length | unread message | unread messages}} from {{senderDetails.name}}.',
}
const mediaBodies = (words: readonly [string, string, string, string]) => ({
  ...between,
  ...{ body_image: words[0], body_audio: words[1], body_video: words[2], body_file: words[3] },
})

type TemplateValues = { readonly [Name in `${TemplateKind}Default` | `${TemplateKind}Privacy`]: Record<string, string> }

/** What each template is until an app sets its own. */
export const defaultTemplates: TemplateValues & { readonly usePrivacyTemplate: number } = {
  usePrivacyTemplate: 3,
  textMessageTemplateDefault: same(said),
  textMessageTemplatePrivacy: same(anything),
  mediaMessageTemplateDefault: mediaBodies(['Image', 'Audio', 'Video', 'File']),
  mediaMessageTemplatePrivacy: mediaBodies([anything, anything, anything, anything]),
  pollMessageTemplateDefault: fallback(said, 'New poll'),
  pollMessageTemplatePrivacy: fallback(anything, anything),
  reminderMessageTemplateDefault: fallback(said, 'Reminder'),
  reminderMessageTemplatePrivacy: fallback(anything, anything),
  customMessageTemplateDefault: fallback(said, anything),
  customMessageTemplatePrivacy: fallback(anything, anything),
  interactiveFormTemplateDefault: same('{{message.data.interactiveData.title}}'),
  interactiveFormTemplatePrivacy: same(anything),
  interactiveCardTemplateDefault: same('{{message.data.interactiveData.text}}'),
  interactiveCardTemplatePrivacy: same(anything),
  interactiveSchedulerTemplateDefault: same('New invitation'),
  interactiveSchedulerTemplatePrivacy: same(anything),
  interactiveCustomTemplateDefault: same(anything),
  interactiveCustomTemplatePrivacy: same(anything),
  emailSubjectTemplateDefault: unread,
  emailSubjectTemplatePrivacy: unread,
  smsContentTemplateDefault: unreadText,
  smsContentTemplatePrivacy: unreadText,
  userMentionTemplateDefault: { ...between, bodyOneOnOne: said, bodyGroup: said, body_fallback: 'You were mentioned' },
  userMentionTemplatePrivacy: {
    ...between,
    ...{ bodyOneOnOne: 'You were mentioned', bodyGroup: 'You were mentioned', body_fallback: 'You were mentioned' },
  },
  groupMentionTemplateDefault: { titleGroup: between.titleGroup, body: said, body_fallback: anything },
  groupMentionTemplatePrivacy: { titleGroup: between.titleGroup, body: anything, body_fallback: anything },
}

export type Templates = TemplateValues & { readonly usePrivacyTemplate: number }
export type TemplatesIn = Static<typeof TemplatesIn>
