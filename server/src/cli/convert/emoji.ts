import { nameToEmoji } from 'gemoji'

/** From the lightest to the darkest, as `skin-tone-2` to `skin-tone-6` name them. */
const skinTones = ['🏻', '🏼', '🏽', '🏾', '🏿']

/** Asks to be shown as a picture; a skin tone takes its place. */
const asPicture = /\uFE0F/gu

/** The character that a short name such as `thumbsup` or `wave::skin-tone-3` stands for; undefined for an own emoji. */
export function emojiOf(name: string): string | undefined {
  const [plain = '', tone] = name.split(/::?skin-tone-/)
  const emoji = Object.hasOwn(nameToEmoji, plain) ? nameToEmoji[plain] : undefined
  if (emoji === undefined || tone === undefined) return emoji
  const [first = '', ...rest] = [...emoji.replace(asPicture, '')]
  return [first, skinTones[Number(tone) - 2] ?? '', ...rest].join('')
}

/** Puts characters in place of the short names in a text: `:wave:`. Others stay, since a text may have colons. */
export function withEmoji(text: string): string {
  return text.replace(
    /:([a-z0-9_+'-]+):(?::skin-tone-([2-6]):)?/g,
    (whole, name: string, tone?: string) => emojiOf(tone === undefined ? name : `${name}::skin-tone-${tone}`) ?? whole,
  )
}
