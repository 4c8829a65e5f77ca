/** A list of category prompt that every app has. */
export interface BuiltInPrompts {
  readonly listId: string
  readonly name: string
  readonly description: string
  /** What of a message it is about. */
  readonly operand: 'text' | 'image'
  readonly prompts: readonly string[]
}

const ofText = (listId: string, name: string, description: string, ...prompts: string[]): BuiltInPrompts => ({
  ...{ listId, name, description, prompts },
  operand: 'text',
})
const ofPictures = (listId: string, name: string, description: string, ...prompts: string[]): BuiltInPrompts => ({
  ...{ listId, name, description, prompts },
  operand: 'image',
})

/** Prompts for the language model of an app: eight about texts, seven about pictures. */
export const builtInPrompts: readonly BuiltInPrompts[] = [
  ofText(
    'prompt-hate',
    'Hate',
    'Attacks on people for what they are',
    'The message attacks, degrades or excludes people because of their origin, skin colour, religion, sex, sexual orientation, gender identity, disability, age or illness, or it praises those who do. Quoting such words in order to object to them does not count, nor does a group speaking of itself.',
  ),
  ofText(
    'prompt-explicit',
    'Explicit content',
    'Sexual content',
    'The message describes sexual acts or body parts in order to arouse, asks for sexual pictures or acts, or offers them. Plain questions of health, education or consent do not count.',
  ),
  ofText(
    'prompt-privacy',
    'Private data',
    'Data by which people can be found or harmed',
    'The message gives away data by which a private person can be found, called or robbed: a home address, phone number, e-mail address, number of an identity document, bank account or card, a password or a one-time code. A name alone does not count, nor does the public address of a company.',
  ),
  ofText(
    'prompt-self-harm',
    'Self-harm',
    'Suicide, self-injury, eating disorders',
    'The message encourages somebody to hurt or kill themselves, explains how, or says that its author is about to. Seeking or offering help, mourning and neutral information about prevention do not count as encouraging.',
  ),
  ofText(
    'prompt-spam-scam',
    'Spam and scam',
    'Unwanted advertising and fraud',
    'The message is advertising that nobody asked for, or it tries to get money, codes, account data or a click on a suspicious link by deceit: prizes, investments with certain profit, made-up emergencies, fees paid in advance, payment outside of the platform.',
  ),
  ofText(
    'prompt-threats',
    'Threats',
    'Announced or wished violence',
    'The message threatens people with violence, the destruction of their belongings or blackmail, or calls on others to do such a thing. Obvious jokes between friends, games and talk about films or news do not count.',
  ),
  ofText(
    'prompt-impersonation',
    'Impersonation',
    'Posing as somebody else in order to deceive',
    'The author poses as another person, a company, an authority or the staff of this service, in order to be trusted or obeyed. Evident parody does not count.',
  ),
  ofText(
    'prompt-non-consensual',
    'Non-consensual content',
    'Sexual acts and pictures without consent',
    'The message is about sexual acts or intimate pictures without the consent of somebody who is shown or touched: it shares them, asks for them, threatens to publish them, or makes such acts look harmless. Reports by victims and the search for help do not count.',
  ),
  ofPictures(
    'prompt-image-violence',
    'Violence in pictures',
    'Injuries, cruelty, corpses',
    'The picture shows serious injuries, blood, cruelty to people or animals, or a corpse. Sports, games and evident make-up do not count.',
  ),
  ofPictures(
    'prompt-image-nudity',
    'Nudity in pictures',
    'Sexual acts and bare bodies',
    'The picture shows sexual acts, genitals, bare buttocks or bare female breasts. Breastfeeding, medicine and works of art do not count.',
  ),
  ofPictures(
    'prompt-image-hate',
    'Hate in pictures',
    'Symbols and slogans of hate',
    'The picture shows symbols, gestures or slogans of groups that stand for hatred or extermination, and does not oppose them.',
  ),
  ofPictures(
    'prompt-image-self-harm',
    'Self-harm in pictures',
    'Suicide, self-injury, eating disorders',
    'The picture shows self-injury, a suicide or means that are prepared for one, or it makes dangerous thinness look desirable.',
  ),
  ofPictures(
    'prompt-image-drugs',
    'Drugs in pictures',
    'Use of and trade in drugs',
    'The picture shows illegal drugs, their use, or an offer of drugs, alcohol or tobacco for sale.',
  ),
  ofPictures(
    'prompt-image-weapons',
    'Weapons in pictures',
    'Weapons that threaten or are for sale',
    'The picture shows firearms, ammunition, explosives or knives in a way that threatens somebody or offers them for sale.',
  ),
  ofPictures(
    'prompt-image-private-data',
    'Private data in pictures',
    'Documents, cards, screens with private data',
    'The picture shows legible private data of a person: an identity document, a bank card, a letter with an address, a screen with account data or a code.',
  ),
]
