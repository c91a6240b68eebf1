/**
 * How many tokens a text is, about, without a tokenizer: those take up to a second and a hundred megabytes to load, and every provider
 * has another one. Script by script, what a token is worth was fitted to a common vocabulary of 200 000 tokens; English, code, logs and
 * CJK come out within a fifth. What the provider reports later calibrates it: see `ContextSize`.
 */

/**
 * Words, digits, ends of lines, wide gaps, Han, kana, Hangul, signs, anything else. Single spaces belong to the word behind them. In a
 * function, because V8 takes 4 ms to look up what these classes are, in the middle of a start, and most texts are ASCII.
 */
const pieces = () =>
  /(\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll}))|(\d+)|([ \t]*\r?\n\s*)|([ \t]{2,})|(\p{Script=Han}+)|([\p{Script=Hiragana}\p{Script=Katakana}ー]+)|(\p{Script=Hangul}+)|([!-/:-@[-`{-~]+)|\P{ASCII}/gu

/** What there can be of them in ASCII. */
const asciiPieces =
  /([A-Z]?[a-z]+|[A-Z]+(?![a-z]))|(\d+)|([ \t]*\r?\n\s*)|([ \t]{2,})|((?!))|((?!))|((?!))|([!-/:-@[-`{-~]+)/g

const isAscii = /^[\0-\x7f]*$/
const isLatin = (text: string): boolean => /\p{Script=Latin}/u.test(text)

/** Up to this many letters a word is one token, nearly always. */
const shortWord = 8

const word = (text: string): number => {
  if (isAscii.test(text)) return 0.86 + Math.max(0, text.length - shortWord) / 5.5
  return text.length * (isLatin(text) ? 0.24 : 0.38)
}

/** Tokens of a text. */
export const ofText = (text: string): number => {
  let tokens = 0
  for (const [piece, letters, digits, line, gap, han, kana, hangul, signs] of text.matchAll(
    isAscii.test(text) ? asciiPieces : pieces()
  )) {
    const { length } = piece
    if (letters !== undefined) tokens += word(letters)
    else if (digits !== undefined) tokens += Math.ceil(length / 3)
    else if (line !== undefined || gap !== undefined) tokens += 0.9
    else if (han !== undefined) tokens += length * 0.76
    else if (kana !== undefined) tokens += length * 0.8
    else if (hangul !== undefined) tokens += length * 0.58
    else if (signs !== undefined) tokens += 1 + (length - 1) * 0.35
    else tokens += 0.8
  }
  return Math.ceil(tokens)
}
