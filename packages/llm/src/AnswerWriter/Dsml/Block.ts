/**
 * Text that began like tool-call markup, read as it comes: a list of calls, something broken, or prose after all.
 *
 * Calls are all or nothing. What is cut or odd is never repaired: a tool that runs with half of its arguments does harm.
 */
import * as Tag from "./Tag.ts"

export interface MarkupCall {
  readonly name: string
  /** A JSON object. */
  readonly arguments: string
}

interface Open {
  readonly name: string
  readonly fields: Map<string, string>
}

interface Value {
  readonly name: string
  readonly isText: boolean
  readonly from: number
}

export class Block {
  /** All of it. */
  text: string
  /** Where prose begins: whoever goes on in prose was talking about markup. */
  prose: number | undefined
  readonly #calls: Array<MarkupCall> = []
  /** Its tags say `DSML`. */
  readonly #isMarked: boolean
  /** Tags without the marker are markup when their parameters look like nobody else's. */
  #isCertain: boolean
  #isBroken = false
  #inCalls = false
  #open: Open | undefined
  #value: Value | undefined
  /** Read so far. */
  #at = 0

  /** @param text Begins with markup. */
  constructor(text: string) {
    this.text = text
    this.#isMarked = Tag.isMarked(text)
    this.#isCertain = this.#isMarked
    this.#read()
  }

  push(text: string): void {
    const isInValue = this.#value !== undefined && this.#at === this.text.length
    this.text += text
    // A file that is being written can be long, and looking into a growing string copies it.
    if (isInValue && !text.includes("<")) this.#at = this.text.length
    else this.#read()
  }

  /** Whether it is markup for certain, whole or not. */
  get isCertain(): boolean {
    return this.#isCertain
  }

  /** The calls, when there is nothing else to it. */
  get calls(): ReadonlyArray<MarkupCall> | undefined {
    const isWhole = this.#at === this.text.length && this.#open === undefined && !this.#inCalls
    return isWhole && this.#isCertain && !this.#isBroken && this.#calls.length > 0 ? this.#calls : undefined
  }

  #read(): void {
    while (this.prose === undefined && (this.#value === undefined ? this.#between() : this.#inside(this.#value)));
  }

  /** Reads on between values; `false` when more text is needed. */
  #between(): boolean {
    while (this.#at < this.text.length && isSpace(this.text.charCodeAt(this.#at))) this.#at++
    if (this.#at === this.text.length) return false
    const tag = Tag.read(this.text, this.#at)
    if (tag === "cut") return false
    if (tag === undefined || (this.#isMarked && !tag.isMarked) || (!this.#isMarked && tag.kind === "other")) {
      return this.#stray()
    }
    this.#at = tag.end
    this.#take(tag)
    return true
  }

  /** Something that is no tag of ours. The arguments of a call in another notation are not prose. */
  #stray(): boolean {
    if (this.#open === undefined || this.text[this.#at] !== "{") {
      this.prose = Math.max(1, this.#at)
      return false
    }
    this.#isBroken = true
    this.#value = { name: "", isText: true, from: this.#at }
    return true
  }

  /** Reads on inside a value, up to the tag that ends it. */
  #inside(value: Value): boolean {
    const at = this.text.indexOf("<", this.#at)
    this.#at = at === -1 ? this.text.length : at
    if (at === -1) return false
    const tag = Tag.read(this.text, at)
    if (tag === "cut") return false
    const isOurs = tag !== undefined && (this.#isMarked ? tag.isMarked : tag.kind !== "other")
    this.#at = isOurs ? tag.end : at + 1
    if (!isOurs) return true
    if (tag.isClosing && tag.kind === "parameter") {
      this.#value = undefined
      this.#keep(value, this.text.slice(value.from, at))
    } else {
      // Markup within a value: no telling where the value ends.
      this.#isBroken = true
    }
    return true
  }

  #take(tag: Tag.Tag): void {
    if (tag.isClosing) return this.#close(tag.kind)
    switch (tag.kind) {
      case "calls":
        if (this.#inCalls || this.#open !== undefined || tag.attributes.trim() !== "") this.#isBroken = true
        this.#inCalls = true
        return
      case "invoke": {
        const name = Tag.invoked(tag)
        if (name === undefined || this.#open !== undefined) this.#isBroken = true
        this.#open = { name: name ?? "", fields: new Map() }
        return
      }
      case "parameter": {
        const field = Tag.parameter(tag)
        if (field !== undefined) this.#isCertain = true
        if (field === undefined || this.#open === undefined) this.#isBroken = true
        this.#value = { ...(field ?? { name: "", isText: true }), from: tag.end }
        return
      }
      case "other":
        this.#isBroken = true
    }
  }

  #close(kind: Tag.Tag["kind"]): void {
    const open = this.#open
    if (kind === "invoke" && open !== undefined) {
      const fields = Array.from(open.fields, ([name, json]) => `${JSON.stringify(name)}:${json}`)
      this.#calls.push({ name: open.name, arguments: `{${fields.join(",")}}` })
      this.#open = undefined
    } else if (kind === "calls" && this.#inCalls && open === undefined) {
      this.#inCalls = false
    } else {
      this.#isBroken = true
    }
  }

  #keep({ isText, name }: Value, raw: string): void {
    const json = isText ? JSON.stringify(raw) : raw.trim()
    if (this.#open === undefined || this.#open.fields.has(name) || !(isText || isJson(json))) this.#isBroken = true
    else this.#open.fields.set(name, json)
  }
}

const isSpace = (unit: number): boolean => unit === 32 || (unit >= 9 && unit <= 13)

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
