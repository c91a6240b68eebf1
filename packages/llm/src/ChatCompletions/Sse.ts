/**
 * `text/event-stream` framing: text in, the `data` of each event out.
 *
 * Plain code, because it runs per network read and per token. Lines may end in LF, CRLF or CR, also when a read ends between the
 * two; comments and the other fields yield nothing.
 */

const lf = 10
const space = 32
const colon = 58

export interface Parser {
  /** Takes the next piece of decoded text. */
  readonly push: (text: string) => void
  /** The body is over: what is left counts as an event. */
  readonly end: () => void
  /** Characters that wait for the end of their line or event. */
  readonly waiting: () => number
}

/** One parser per response. `onData` gets the data of each event, its lines joined by LF. */
export const make = (onData: (data: string) => void): Parser => {
  // A line that spans reads is kept apart, so that a huge event is not searched again with every read.
  let pending = ""
  let data: string | undefined
  let skipLf = false

  const dispatch = () => {
    const event = data
    data = undefined
    if (event !== undefined) onData(event)
  }

  const line = (text: string, from: number, to: number) => {
    if (from === to) return dispatch()
    if (!isData(text, from, to)) return
    const start = text.charCodeAt(from + 5) === space ? from + 6 : from + 5
    const value = text.slice(start, to)
    data = data === undefined ? value : `${data}\n${value}`
  }

  return {
    push: (text) => {
      let from = 0
      if (skipLf && text !== "") {
        skipLf = false
        if (text.charCodeAt(0) === lf) from = 1
      }
      let nextLf = text.indexOf("\n", from)
      let nextCr = text.indexOf("\r", from)
      while (nextLf !== -1 || nextCr !== -1) {
        const isCr = nextCr !== -1 && (nextLf === -1 || nextCr < nextLf)
        const end = isCr ? nextCr : nextLf
        if (pending === "") {
          line(text, from, end)
        } else {
          const whole = pending + text.slice(from, end)
          pending = ""
          line(whole, 0, whole.length)
        }
        from = end + 1
        if (isCr) {
          if (from === text.length) skipLf = true
          else if (text.charCodeAt(from) === lf) from++
          nextCr = text.indexOf("\r", from)
        }
        if (nextLf !== -1 && nextLf < from) nextLf = text.indexOf("\n", from)
      }
      if (from < text.length) pending += text.slice(from)
    },
    end: () => {
      const rest = pending
      pending = ""
      if (rest !== "") line(rest, 0, rest.length)
      dispatch()
    },
    waiting: () => pending.length + (data?.length ?? 0)
  }
}

// By character: a comparison of strings at an offset costs more than the rest of the line.
const isData = (text: string, from: number, to: number): boolean =>
  to - from >= 4 &&
  text.charCodeAt(from) === 100 &&
  text.charCodeAt(from + 1) === 97 &&
  text.charCodeAt(from + 2) === 116 &&
  text.charCodeAt(from + 3) === 97 &&
  (to - from === 4 || text.charCodeAt(from + 4) === colon)
