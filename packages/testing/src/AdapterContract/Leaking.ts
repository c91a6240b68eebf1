/**
 * Rules about tool-call markup that a server leaves in the text of an answer (DeepSeek's "DSML").
 */
import { retryableCodes } from "@dsh/llm/LlmError"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import * as Effect from "effect/Effect"
import type { ContractCase, Subject } from "../AdapterContract.ts"
import * as Reply from "../Reply.ts"
import * as Script from "../Script.ts"
import { ask, asking, called, ending, hello, said } from "./Ask.ts"
import type { Answer, Question } from "./Ask.ts"
import { holds, same } from "./Expect.ts"

const header = {
  tools: ["bash", "write"].map((name) => ({
    name,
    description: "Does it.",
    parameters: { type: "object", properties: {} }
  }))
}

const invoke = (bar: string, name = "bash") =>
  `<${bar}DSML${bar}invoke name="${name}">\n<${bar}DSML${bar}parameter name="command" string="true">ls "<b>" &&\n` +
  `exit</${bar}DSML${bar}parameter>\n<${bar}DSML${bar}parameter name="timeout" string="false"> 5 </${bar}DSML${bar}parameter>\n` +
  `</${bar}DSML${bar}invoke>\n`

const wrapped = (bar = "｜", inner = invoke(bar), wrapper = "tool_calls") =>
  `<${bar}DSML${bar}${wrapper}>\n${inner}</${bar}DSML${bar}${wrapper}>`

const listed = ["bash", '{"command":"ls \\"<b>\\" &&\\nexit","timeout":5}']

/** Every spelling that is a call. */
const spellings: Readonly<Record<string, string>> = {
  "full-width bars": wrapped(),
  "double lines": wrapped("‖"),
  "two full-width bars": wrapped("｜｜"),
  "ASCII bars": wrapped("|"),
  "the older wrapper": wrapped("｜", invoke("｜"), "function_calls"),
  "a wrapper with a space": wrapped("｜｜", invoke("｜｜"), " calls"),
  "no wrapper": invoke("｜"),
  "no markers": wrapped().replaceAll("｜DSML｜", "")
}

/** What is markup for certain, and no whole call of a tool on offer. */
const leaks: Readonly<Record<string, string>> = {
  "cut in a value": wrapped().slice(0, 90),
  "cut in a tag": wrapped().slice(0, 30),
  "cut before its end": wrapped().slice(0, -3),
  "cut in another call": `${wrapped()}\n<｜DSML｜inv`,
  "without its wrapper's end": wrapped().slice(0, wrapped().lastIndexOf("</")),
  "an unknown tool": wrapped("｜", invoke("｜", "launch")),
  "one known, one unknown": wrapped("｜", invoke("｜") + invoke("｜", "launch")),
  "a value that is no JSON": wrapped().replace(" 5 ", "five"),
  "a parameter without its kind": wrapped().replace(' string="false"', ""),
  "the same parameter twice": wrapped().replace("timeout", "command"),
  "arguments in another notation": wrapped("｜", '<｜DSML｜invoke name="bash">{"command":"ls"}</｜DSML｜invoke>'),
  "markup in a value": wrapped().replace("<b>", "<｜DSML｜invoke>"),
  "only the end": "</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
  "only a parameter": '<｜DSML｜parameter name="command" string="true">ls</｜DSML｜parameter>',
  "no call at all": wrapped("｜", ""),
  "an unknown tag": "<｜DSML｜thing>"
}

/** What talks about markup. */
const quotations: Readonly<Record<string, string>> = {
  "in a fence": `Look:\n\`\`\`\n${wrapped()}\n\`\`\``,
  "in a fence that is not closed": `Look:\n- item\n  ~~~xml\n${wrapped()}`,
  "in a span": 'It writes `<｜DSML｜tool_calls>` and then `<｜DSML｜invoke name="bash">`',
  "in a span that holds a value": 'Values come in `<｜DSML｜parameter name="x" string="true">`.',
  "in an indented block": `Look:\n\n    ${wrapped().replaceAll("\n", "\n    ")}`,
  "before more prose": `Look: ${wrapped()}\nThat is what it wrote.`,
  "in a sentence": "The tag <｜DSML｜tool_calls> opens a list, </｜DSML｜tool_calls> closes it.",
  "in a quotation": `> ${wrapped().replaceAll("\n", "\n> ")}`
}

/** The markup arrives a few letters at a time. */
const answered = (subject: Subject, text: string, question: Question = { header }) =>
  ask(subject, Reply.text(text), question)

/** Nothing of the markup was shown, not even for a moment. */
const unseen = (answer: Answer, name: string) => {
  const shown = answer.chunks.flatMap((chunk) => (chunk.type === "text-delta" ? [chunk.text] : [])).join("")
  return same(`${name}: shown`, shown, "hello ")
}

/** Rules about servers that leak, all of which speak chat completions. */
export const leaking: ReadonlyArray<ContractCase> = [
  {
    name: "whole calls of tools on offer at the end of the text are calls, in every spelling",
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        for (const [name, markup] of Object.entries(spellings)) {
          const answer = yield* answered(subject, `hello ${markup}\n`)
          yield* same(name, [called(answer), ending(answer)], [[listed], "tool-calls"])
          yield* unseen(answer, name)
        }
        const pair = yield* answered(subject, `hello ${wrapped("｜", invoke("｜") + invoke("｜", "write"))}`)
        yield* same("two", called(pair), [listed, ["write", listed[1]]])
        const ids = pair.message.blocks.flatMap((block) => (block.type === "tool-call" ? [block.id] : []))
        yield* holds(`ids ${ids.join(", ")}`, new Set(ids).size === 2 && !ids.includes("" as never))
      })
  },
  {
    name: "they are the same wherever the text is cut in two",
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        const text = `hello ${wrapped()}`
        const script = Script.respond(({ index }) => Reply.text([text.slice(0, index + 1), text.slice(index + 1)]))
        const { ask: again } = yield* asking(subject, script, { header })
        for (let at = 1; at < text.length; at++) {
          const answer = yield* again
          yield* same(`cut at ${at}`, called(answer), [listed])
          yield* unseen(answer, `cut at ${at}`)
        }
      })
  },
  {
    name: "any other markup at the end is a failure that may be tried again, and none of it is shown",
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        for (const [name, markup] of Object.entries(leaks)) {
          const answer = yield* answered(subject, `hello ${markup}`)
          yield* same(name, [called(answer), ending(answer)], [[], "SERVER"])
          yield* holds(`${name}: it may be tried again`, retryableCodes.has(ending(answer)))
          yield* unseen(answer, name)
        }
        const untold = yield* answered(subject, `hello ${wrapped()}`, {})
        yield* same("no tools on offer", [called(untold), ending(untold)], [[], "SERVER"])
        const told = Reply.message({
          text: `hello ${wrapped()}`,
          toolCalls: [{ id: "c", name: "bash", arguments: { command: "pwd" } }]
        })
        yield* same("next to a real call", ending(yield* ask(subject, told, { header })), "SERVER")
      })
  },
  {
    name: "markup that the output limit cut is dropped like any other call",
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        for (const markup of [wrapped(), wrapped().slice(0, 90)]) {
          const answer = yield* ask(subject, Reply.text(`hello ${markup}`, { finish: "length" }), { header })
          yield* same("end", [said(answer), called(answer), ending(answer)], ["hello ", [], "max-tokens"])
        }
      })
  },
  {
    name: "markup that is quoted is text, whole, and never run",
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        for (const [name, text] of Object.entries(quotations)) {
          const answer = yield* answered(subject, text)
          yield* same(name, [said(answer), called(answer), ending(answer)], [text, [], "stop"])
        }
      })
  },
  {
    name: "markup that stands in the conversation is a quotation wherever it is",
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        const numbered = wrapped("｜｜")
          .split("\n")
          .map((line, i) => `${i + 1}\t${line}`)
          .join("\n")
        const messages = [...hello, Message.user(MessageId("m2"), `What does this say?\n${numbered}`)]
        const text = `It says:\n\n${wrapped()}`
        const answer = yield* answered(subject, text, { header, messages })
        yield* same("quoted", [said(answer), called(answer), ending(answer)], [text, [], "stop"])
        const other = yield* answered(subject, text.replace("exit", "reboot"), { header, messages })
        yield* same("another call", called(other).length, 1)
      })
  },
  {
    name: "text that only looks like markup is text",
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        const texts = [
          "a < b",
          "a <",
          "<",
          "x <｜ y",
          "<｜DSM",
          "<div>|DSML|</div>",
          '<invoke name="x">',
          "<tool_calls>"
        ]
        for (const text of texts) {
          const answer = yield* answered(subject, text)
          yield* same(text, [said(answer), ending(answer)], [text, "stop"])
        }
      })
  }
]
