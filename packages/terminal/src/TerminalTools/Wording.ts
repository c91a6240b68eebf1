/**
 * What the model reads of terminals. The bracketed lines are a contract.
 */
import * as Text from "@dsh/kernel/Text"
import type { Ended, Page, Sent, TerminalInfo } from "../Terminals.ts"

export const status = (ended: Ended): string =>
  ended === undefined ? "running" : `exited code=${ended.exitCode} signal=${ended.signal}`

export const name = ({ id, name }: TerminalInfo): string => (name === undefined ? id : `${id} (${name})`)

/** At most `maxBytes` of the text, which says so when it is cut. */
export const bounded = (text: string, maxBytes: number, isWhole = true): string => {
  const kept = Text.headBytes(text, maxBytes)
  return kept.length === text.length && isWhole ? text : `${kept}\n[output truncated]`
}

const shown = (text: string): string => (text.trim() === "" ? "(no output)" : text.replace(/\n$/, ""))

export const opened = (info: TerminalInfo & { readonly startup: string }, maxBytes: number): string =>
  `opened ${name(info)}, type ${info.type}\n${shown(bounded(info.startup, maxBytes))}`

export const sent = ({ ended, tail, text, wait }: Sent, maxBytes: number): string =>
  `${shown(bounded(text, maxBytes, tail === undefined))}\n[wait: ${wait}]\n[session: ${status(ended)}]`

export const page = ({ from, text, to, total }: Page, maxBytes: number): string =>
  `${shown(bounded(text, maxBytes))}\n[lines: ${from}-${to} of ${total}]`

export const list = (all: ReadonlyArray<TerminalInfo>): string =>
  all.length === 0
    ? "(no terminals)"
    : all.map((info) => `${name(info)} [${info.type}] ${status(info.ended)} — ${info.cwd}`).join("\n")
