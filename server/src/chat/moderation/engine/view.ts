import { foldText } from './fold.ts'
import type { FoldedText, FoldingRoom } from './folded.ts'
import type { PatternBudget } from './pattern-budget.ts'
import type { PatternScreen } from './pattern-screen.ts'
import { findPattern, isPattern, type Pattern } from './patterns.ts'
import { type PlainText, plainOf } from './plain.ts'
import { type SentenceList, similarityTo } from './sentences.ts'
import { findWord, type Span, type WordList } from './words.ts'

/** What the texts of one message are looked at with. */
export interface Tools {
  /** Of the patterns that they may be asked about. */
  readonly screen: PatternScreen
  /** Of what those patterns may cost. */
  readonly budget: PatternBudget
  /** It is used again for the next message: views do not outlive theirs. */
  readonly room: FoldingRoom
}

/** A text that rules look at. What one rule finds out about it, the others know; what nobody asks for is not made. */
export class View {
  readonly in: 'text' | 'custom'
  readonly text: string
  readonly #tools: Tools
  #folded: FoldedText | undefined
  #screened: Screened | undefined
  /** Null where the plain text is the text itself. */
  #plain: { readonly of: PlainText; readonly screened: Screened } | null | undefined
  /** How similar it is to lists of sentences. */
  #similar: Map<SentenceList, number> | undefined
  /** Where the words of a list, or a pattern, were found first; `equals` asks anew. */
  #found: Map<WordList | Pattern, Span | undefined> | undefined

  constructor(where: 'text' | 'custom', text: string, tools: Tools) {
    this.in = where
    this.text = text
    this.#tools = tools
  }

  get folded(): FoldedText {
    this.#folded ??= foldText(this.text, this.#tools.room.take())
    return this.#folded
  }

  /** The same place with another text. */
  with(text: string): View {
    return new View(this.in, text, this.#tools)
  }

  findWord(words: WordList): Span | undefined {
    return this.#remember(words, () => findWord(words, this.folded))
  }

  similarityTo(sentences: SentenceList): number {
    this.#similar ??= new Map()
    const known = this.#similar.get(sentences)
    if (known !== undefined) return known
    const similarity = similarityTo(sentences, this.folded)
    this.#similar.set(sentences, similarity)
    return similarity
  }

  findPattern(pattern: Pattern): Span | undefined {
    if (!this.#own.mayMeet(pattern) && this.#plainText === null) return undefined
    return this.#remember(pattern, () => this.#findPattern(pattern))
  }

  /** Whether a pattern is met by the text as a whole. */
  isPattern(pattern: Pattern): boolean {
    const { budget } = this.#tools
    const isMet = (text: string) => budget.run(pattern, text, () => isPattern(pattern, text)) === true
    if (this.#own.mayMeet(pattern) && isMet(this.text)) return true
    const plain = this.#plainText
    return plain?.screened.mayMeet(pattern) === true && isMet(plain.of.text)
  }

  #findPattern(pattern: Pattern): Span | undefined {
    const { budget } = this.#tools
    const find = (text: string) => budget.run(pattern, text, () => findPattern(pattern, text))
    const span = this.#own.mayMeet(pattern) ? find(this.text) : undefined
    const plain = this.#plainText
    if (span !== undefined || plain === null || !plain.screened.mayMeet(pattern)) return span
    const found = find(plain.of.text)
    return found && plain.of.toOriginal(found)
  }

  get #own(): Screened {
    this.#screened ??= new Screened(this.text, this.#tools.screen)
    return this.#screened
  }

  get #plainText() {
    if (this.#plain === undefined) {
      const plain = plainOf(this.text)
      this.#plain = plain === undefined ? null : { of: plain, screened: new Screened(plain.text, this.#tools.screen) }
    }
    return this.#plain
  }

  #remember(key: WordList | Pattern, look: () => Span | undefined): Span | undefined {
    this.#found ??= new Map()
    if (this.#found.has(key)) return this.#found.get(key)
    const span = look()
    this.#found.set(key, span)
    return span
  }
}

/** Which patterns a text may meet. */
class Screened {
  readonly #possible: Uint8Array

  constructor(text: string, screen: PatternScreen) {
    this.#possible = screen.screen(text)
  }

  mayMeet({ number }: Pattern): boolean {
    return this.#possible[number] === 1
  }
}
