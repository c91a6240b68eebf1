/**
 * The model of the demo: a script that looks at what the tools said before it goes on. Everything between it and the files is real.
 */
import * as ChatRequest from "@dsh/testing/ChatRequest"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import * as Project from "./Project.ts"

const pace = { paceMs: 15 }
const runTests = (description: string) => ({
  name: "bash",
  arguments: { command: "node --test --test-reporter=spec", description }
})

/** What the last round of tools said. */
const results = (request: ChatRequest.ChatRequest): string =>
  ChatRequest.pendingResults(request)
    .map(({ text }) => text)
    .join("\n")

const giveUp = (what: string) => Reply.text(`I stop here: ${what}`, pace)

export const script: Script.Script = Script.conversation([
  Reply.toolCalls([runTests("Run the tests"), { name: "read", arguments: { file_path: "src/median.js" } }], {
    reasoning: "First see which test fails and read the code it tests.",
    ...pace
  }),
  (request) =>
    results(request).includes("fail 1") && results(request).includes(Project.bug)
      ? Reply.toolCalls(
          [
            {
              name: "edit",
              arguments: { file_path: "src/median.js", old_string: Project.bug, new_string: Project.fix }
            }
          ],
          {
            reasoning: "sort() without a comparator orders numbers as text, so 10 comes before 9. Give it one.",
            ...pace
          }
        )
      : giveUp("the project is not what I expected."),
  Reply.toolCalls([runTests("Run the tests again")], { reasoning: "Now see whether that was it.", ...pace }),
  (request) =>
    results(request).includes("fail 0")
      ? Reply.text(
          "The tests pass. `median` sorted its numbers as text; `src/median.js` now sorts them as numbers.",
          pace
        )
      : giveUp("the tests still fail.")
])
