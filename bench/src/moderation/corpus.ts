/** What the rules of the bench look at and look for: the same for each run. */
export interface Corpus {
  /** Each of 120 characters. */
  readonly texts: readonly string[]
  /** Words like those of a language that nobody speaks, so that hardly any is found. */
  terms(count: number): string[]
}

const common =
  `the and you that was for are with his they this have from one had word but not what all were when your can said
  there use each which she how their will other about out many then them these some her would make like him into time has
  look two more write see number way could people than first water been call who now find long down day did get come made
  may part over new sound take only little work know place year live back give most very after thing our just name good
  sentence man think say great where help through much before line right too mean old any same tell boy follow came want
  show also around form three small set put end does another well large must big even such because turn here why ask went
  men read need land different home us move try kind hand picture again change off play spell air away animal house point
  page letter mother answer found study still learn should world`
    .trim()
    .split(/\s+/)

const onsets =
  'b br bl c ch cl cr d dr f fl fr g gl gr h j k kn l m n p ph pl pr qu r s sc sh sk sl sm sn sp st str t th tr v w z'
const cores = 'a ai au e ea ee i ie o oa oi oo ou u ue y'
const codas = 'b ck d ft g k l ld lk ll m mp n nd ng nk nt p r rd rk rm rn rt s sk sp ss st t th x'

export function createCorpus(seed: number): Corpus {
  const random = createRandom(seed)
  const pick = (items: readonly string[]) => items[Math.floor(random() * items.length)] ?? ''
  const parts = [onsets, cores, codas].map((all) => all.split(' '))
  const syllable = () => parts.map(pick).join('')
  const spell = (word: string) => {
    const chance = random()
    if (chance < 0.08) return `${word[0]?.toUpperCase()}${word.slice(1)}`
    if (chance < 0.1) return String(Math.floor(random() * 5000))
    if (chance < 0.12) return `${word}é`
    if (chance < 0.16) return `${word}${pick([',', '.', '!', '?', ':)', ' 😀'])}`
    return chance < 0.2 ? syllable() + syllable() : word
  }
  const text = () => {
    let made = ''
    while (made.length < 120) made += `${spell(pick(common))} `
    return made.slice(0, 120)
  }
  return {
    texts: Array.from({ length: 4000 }, text),
    terms(count) {
      const made = new Set<string>()
      while (made.size < count) {
        const word = Array.from({ length: 2 + Math.floor(random() * 2) }, syllable).join('')
        made.add(random() < 0.1 ? `${word} ${syllable()}` : word)
      }
      return [...made]
    },
  }
}

/** Mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Twenty patterns as people write them: numbers of phones, cards and accounts, addresses, invitations. */
export const patterns = [
  '[0-9]{3,10}[- ][0-9]{3,10}',
  '[a-z0-9._-]{1,50}@[a-z0-9-]{1,50}[.](com|net|org)',
  '\\b\\d{3}[-. ]?\\d{3}[-. ]?\\d{4}\\b',
  '\\(?\\d{3}\\)? ?\\d{3}-\\d{4}',
  '(\\d{4}[- ]?){3}\\d{4}',
  '[A-Z]{2}\\d{2}( ?[A-Z0-9]{4}){3,7}',
  'whatsapp[ .:]{0,3}[0-9]{6,12}',
  't[.]me/[a-z0-9_]{3,32}',
  'discord[.]gg/[a-z0-9]{4,16}',
  '(bit[.]ly|tinyurl[.]com)/[a-z0-9]{3,16}',
  '(buy|sell|cheap) (crypto|coins|gold)',
  'free (money|gift|iphone)',
  '(click|tap) (here|the link)',
  '0x[0-9a-f]{40}',
  '\\b(bc1|[13])[a-z0-9]{25,39}\\b',
  '\\d{1,3}[.]\\d{1,3}[.]\\d{1,3}[.]\\d{1,3}',
  '(snap|insta|kik)(gram|chat)?[ :@]{1,3}[a-z0-9._]{3,30}',
  'https?://[a-z0-9.-]{1,60}[.](ru|cn|xyz|top)',
  'call me (at|on) [0-9]{3,12}',
  'pass(word|code)[ :=]{1,3}[a-z0-9]{4,20}',
] as const
