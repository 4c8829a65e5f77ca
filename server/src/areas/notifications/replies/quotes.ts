import { replyMarker } from '../../../chat/notifications/reply-address.ts'

/** Of a line; no pattern here takes long on so much. */
const mostLooked = 300

/** `On Monday, Alice wrote:` and its like, in the languages of usual mail programs: how it begins, and how it ends. */
const attributionBegins = /^(on|el|le|il|am|op|em|den|dne|dnia|w dniu|på)\s/i
const attributionEnds =
  /(wrote|escribió|a écrit|ha scritto|schrieb|schreef|escreveu|skrev|napsala?|napisał(\(a\))?|写道|のメール)\s?[:：]$/iu
/** German programs put the name behind the verb. */
const nameBehind = /\s(schrieb|schreef|skrev)\s.{1,100}[:：]$/iu

const separators = [
  /^-{2,}\s?(original message|original-nachricht|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht|mensagem original|opprinnelig melding|ursprungligt meddelande|forwarded message)\s?-{2,}$/i,
  /^_{10,}$/,
]

/** The head of what Outlook quotes: who wrote, and below that when or to whom. */
const quotedSender = /^\*?(from|von|de|da|van|fra|från|od)\s?:\*?\s?\S/i
const quotedMore =
  /^\*?(sent|date|to|subject|gesendet|datum|an|betreff|envoyé|à|objet|enviado|fecha|para|asunto|inviato|data|oggetto|verzonden|aan|onderwerp|sendt|dato|til|emne|skickat|till|ämne)\s?:\*?\s?\S/i

const signatureLine = /^-- ?$/
const signatureOfDevice =
  /^(sent from my|sent with|get outlook for|von meinem .{1,40} gesendet|envoyé de mon|enviado desde mi)\b.{0,80}$/i

/**
 * What somebody wrote in a reply, without what they reply to and without their signature. Where the answer stands below
 * the quote, or between its lines, it stays.
 */
export function cutQuotes(text: string): string {
  const lines = text
    .replaceAll(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.trimEnd())
  const own = withoutQuoted(lines.slice(0, endOf(lines)))
  return withoutSignature(own).join('\n').trim()
}

/** Where everything that follows is of somebody else. */
function endOf(lines: readonly string[]): number {
  const marker = lines.findIndex((line) => line.includes(replyMarker))
  const written = lines.findIndex((line) => line !== '' && !isQuote(line))
  const end = lines.findIndex(
    (line, i) => isSeparator(line) || isQuotedHead(lines, i) || (i > written && introducesTheRest(lines, i)),
  )
  const found = [marker, end].filter((at) => at >= 0)
  return found.length === 0 ? lines.length : Math.min(...found)
}

const looked = (line: string) => line.slice(0, mostLooked).trim()

function isSeparator(line: string): boolean {
  const text = looked(line)
  return separators.some((separator) => separator.test(text))
}

function isQuotedHead(lines: readonly string[], at: number): boolean {
  return quotedSender.test(looked(lines[at] ?? '')) && quotedMore.test(looked(lines[at + 1] ?? ''))
}

/** Some programs quote without `>`. */
function introducesTheRest(lines: readonly string[], at: number): boolean {
  const count = introductionAt(lines, at)
  return count > 0 && !isQuote(nextWritten(lines, at + count))
}

const isQuote = (line: string | undefined) => line?.trimStart().startsWith('>') === true

/** Drops the lines of a quote with what introduces them, which may go over three lines. */
function withoutQuoted(lines: readonly string[]): string[] {
  const own: string[] = []
  for (let i = 0; i < lines.length; i++) {
    const introduced = introductionAt(lines, i)
    if (introduced > 0) i += introduced - 1
    else if (!isQuote(lines[i])) own.push(lines[i] as string)
  }
  return own
}

/** How many lines from here on introduce a quote; 0: none. Where no `>` follows, they must say when somebody wrote. */
function introductionAt(lines: readonly string[], at: number): number {
  const first = looked(lines[at] ?? '')
  if (first === '') return 0
  const most = attributionBegins.test(first) ? 3 : 1
  for (let count = 1; count <= most; count++) {
    const joined = looked(
      lines
        .slice(at, at + count)
        .map(looked)
        .join(' '),
    )
    if (!/[:：]$/.test(joined)) continue
    const attributes = attributionEnds.test(joined) || nameBehind.test(joined)
    const dated = /[\d@]/.test(joined)
    if (isQuote(nextWritten(lines, at + count)) ? attributes || dated : attributes && dated) return count
  }
  return 0
}

function nextWritten(lines: readonly string[], from: number): string | undefined {
  let at = from
  while (lines[at] === '') at++
  return lines[at]
}

function withoutSignature(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line !== '')
  const isSignature = (line: string, i: number) =>
    signatureLine.test(line) || (i === last && signatureOfDevice.test(looked(line)))
  const at = lines.findIndex(isSignature)
  // Whatever stands alone is no signature.
  return at > 0 ? lines.slice(0, at) : lines
}
