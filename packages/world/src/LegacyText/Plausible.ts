/**
 * Whether bytes read like text in an encoding. Libraries that guess do it by frequencies, and a source file with one comment has too few
 * characters for that; what tells the encodings apart in so little is which codes a language uses at all.
 *
 * - GB 18030: characters of the first level of GB 2312, which is what nearly all Chinese is written with.
 * - Big5: its first level, second bytes below A1 among them, which GB 2312 does not have.
 * - Shift JIS, EUC-JP: kana, and kanji of the first level, side by side.
 * - EUC-KR: Hangul. Short Chinese text may look like that, too; then the syllables would be rare ones.
 * - Windows-1252 and ISO 8859-1: single letters inside of words, and typographic signs.
 */
import type { LegacyEncoding } from "../LegacyText.ts"

/** Those in which `bytes` may be text. With EUC-KR, `isKorean` has the last word. */
export const encodingsOf = (bytes: Uint8Array): ReadonlyArray<LegacyEncoding> => [
  ...(isGb(pairsOf(bytes, isEucLead, (byte) => byte >= 0x40)) ? (["gb18030"] as const) : []),
  ...(isBig5(pairsOf(bytes, isEucLead, (byte) => byte >= 0x40)) ? (["big5"] as const) : []),
  ...(isShiftJis(pairsOf(bytes, isShiftJisLead, (byte) => byte >= 0x40)) ? (["shift_jis"] as const) : []),
  ...(isEucJp(pairsOf(bytes, isEucLead, isHigh)) ? (["euc-jp"] as const) : []),
  ...(isEucKr(pairsOf(bytes, isEucLead, isHigh)) ? (["euc-kr"] as const) : []),
  ...(isLatin(bytes)
    ? ([bytes.some((byte) => byte >= 0x80 && byte < 0xa0) ? "windows-1252" : "iso-8859-1"] as const)
    : [])
]

// -----------------------------------------------------------------------------
// two bytes for a character
// -----------------------------------------------------------------------------

interface Pair {
  readonly lead: number
  readonly trail: number
  /** The character before or after it is such a pair, too. */
  hasNeighbour: boolean
}

const isHigh = (byte: number): boolean => byte >= 0xa1
const isEucLead = (byte: number): boolean => byte > 0x80 && byte < 0xff
const isShiftJisLead = (byte: number): boolean => (byte > 0x80 && byte < 0xa0) || (byte >= 0xe0 && byte < 0xfd)

/** Undefined if a byte that is not ASCII belongs to no pair. */
const pairsOf = (
  bytes: Uint8Array,
  isLead: (byte: number) => boolean,
  isTrail: (byte: number) => boolean
): ReadonlyArray<Pair> | undefined => {
  const pairs: Array<Pair> = []
  let endOfLast = -1
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at]!
    if (lead < 0x80) continue
    const trail = bytes[++at]
    if (trail === undefined || !isLead(lead) || !isTrail(trail)) return undefined
    const last = pairs.at(-1)
    const hasNeighbour = last !== undefined && endOfLast === at - 2
    if (hasNeighbour) last.hasNeighbour = true
    pairs.push({ lead, trail, hasNeighbour })
    endOfLast = at
  }
  return pairs
}

const share = (pairs: ReadonlyArray<Pair>, is: (pair: Pair) => boolean): number =>
  pairs.reduce((count, pair) => (is(pair) ? count + 1 : count), 0) / pairs.length

const between = (value: number, first: number, last: number): boolean => value >= first && value <= last

type Test = (pairs: ReadonlyArray<Pair> | undefined) => boolean

/** Punctuation and letters of full width. */
const isSign = ({ lead, trail }: Pair): boolean => (lead === 0xa1 || lead === 0xa3) && isHigh(trail)

const isGb: Test = (pairs) =>
  pairs !== undefined &&
  share(pairs, (pair) => isSign(pair) || (between(pair.lead, 0xb0, 0xd7) && isHigh(pair.trail))) >= 0.85 &&
  share(pairs, ({ lead }) => lead >= 0xb0) > 0

const isBig5: Test = (pairs) =>
  pairs !== undefined &&
  share(pairs, ({ lead }) => between(lead, 0xa1, 0xc6)) >= 0.85 &&
  share(pairs, ({ lead, trail }) => lead >= 0xa4 && trail < 0x7f) >= 0.15 &&
  share(pairs, ({ trail }) => between(trail, 0x7f, 0xa0)) === 0

const isShiftJis: Test = (pairs) =>
  pairs !== undefined &&
  share(pairs, ({ lead }) => between(lead, 0x81, 0x83) || between(lead, 0x88, 0x98)) >= 0.85 &&
  share(pairs, ({ hasNeighbour }) => hasNeighbour) >= 0.5

// Two characters of its kana are just as well two common ones of Big5.
const isEucJp: Test = (pairs) =>
  pairs !== undefined &&
  pairs.length > 2 &&
  share(pairs, (pair) => isSign(pair) || between(pair.lead, 0xa4, 0xa5) || between(pair.lead, 0xb0, 0xcf)) >= 0.85 &&
  share(pairs, ({ lead }) => between(lead, 0xa4, 0xa5)) >= 0.2

const isEucKr: Test = (pairs) =>
  pairs !== undefined && share(pairs, (pair) => isSign(pair) || between(pair.lead, 0xb0, 0xc8)) >= 0.9

/** The syllables that make up most of any Korean text; of other text that passes for it, next to nothing. */
const commonSyllables: ReadonlySet<string> = new Set(
  "이다는을를의에가고하한지로도은기사있수없니자시인스리어서그나대해정일것들라게아보과전만장여으부제조주구성동원면상오선관신무공비소용세문유경화물개계모위진적안치중미생연되때않우할습입력출파열글테트드"
)

/** Whether `text`, read as EUC-KR, is Korean, and not something else that happens to consist of Hangul. */
export const isKorean = (text: string): boolean => {
  const syllables = text.match(/[가-힣]/g) ?? []
  return syllables.filter((syllable) => commonSyllables.has(syllable)).length >= syllables.length * 0.4
}

// -----------------------------------------------------------------------------
// one byte for a character
// -----------------------------------------------------------------------------

/** Signs may stand anywhere; letters belong to words, which are not all made of letters that only some languages have. */
const isLatin = (bytes: Uint8Array): boolean => {
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at]! < 0x80) continue
    const start = at
    while (at + 1 < bytes.length && bytes[at + 1]! >= 0x80) at++
    for (let i = start; i <= at; i++) if (isMisplaced(bytes[i]!, bytes[i - 1], bytes[i + 1])) return false
    if (!isLatinRun(bytes.subarray(start, at + 1), bytes[start - 1], bytes[at + 1])) return false
  }
  return true
}

const isLatinRun = (run: Uint8Array, before: number | undefined, after: number | undefined): boolean => {
  const letters = run.filter((byte) => latinLetters.has(byte))
  if (letters.length === 0) return true
  const signs = run.filter((byte) => !latinLetters.has(byte))
  if (letters.length > longestRun || signs.some((byte) => !quotes.has(byte))) return false
  const [first, last] = [run[0]!, run.at(-1)!]
  const isInWord = (latinLetters.has(first) && isLetter(before)) || (latinLetters.has(last) && isLetter(after))
  // No word goes on with a capital.
  if (latinLetters.has(first) && isLower(before) && between(first, 0xc0, 0xde)) return false
  return isInWord || (letters.length === 1 && words.has(letters[0]!))
}

/** Quotation marks open before words and close behind them; an apostrophe follows something. */
const isMisplaced = (byte: number, before: number | undefined, after: number | undefined): boolean => {
  if (opening.has(byte)) return isWord(before)
  if (closing.has(byte)) return isWord(after)
  return byte === apostrophe && !isWord(before) && !/[\d.,!?)]/.test(String.fromCharCode(before ?? 0))
}

const isWord = (byte: number | undefined): boolean => isLetter(byte) || (byte !== undefined && latinLetters.has(byte))

const apostrophe = 0x92
const opening = new Set([0x82, 0x84, 0x8b, 0x91, 0x93])
const closing = new Set([0x94, 0x9b])

const longestRun = 3

const codes = (text: string): ReadonlySet<number> => new Set(Buffer.from(text, "latin1"))

const latinLetters = new Set([
  ...codes("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ"),
  // Š Œ Ž š œ ž Ÿ
  ...[0x8a, 0x8c, 0x8e, 0x9a, 0x9c, 0x9e, 0x9f]
])

/** Quotation marks, dashes and the ellipsis, which stand directly beside letters. */
const quotes = new Set([...codes("«»¿¡"), 0x82, 0x84, 0x85, 0x8b, 0x91, 0x92, 0x93, 0x94, 0x96, 0x97, 0x9b])

/** Words of one letter. */
const words = codes("àáåæèéíóöøùúÀÁÅÆÈÉÍÓÖØÙÚ")

const isLetter = (byte: number | undefined): boolean =>
  byte !== undefined && (between(byte, 0x41, 0x5a) || between(byte, 0x61, 0x7a))

const isLower = (byte: number | undefined): boolean => byte !== undefined && between(byte, 0x61, 0x7a)
