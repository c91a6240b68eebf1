/**
 * What people type, for the help of every command. A new command has to have some.
 */
import type { CommandName, Group } from "./Grammar.ts"

interface Example {
  readonly line: string
  readonly does: string
}

const example = (line: string, does: string): Example => ({ line, does })

export const examples: Readonly<Record<CommandName, ReadonlyArray<Example>>> = {
  run: [
    example('dsh run "fix the failing test"', "work in the current folder"),
    example('git diff | dsh run "review this"', "with something piped in"),
    example('dsh run --continue "now the other one"', "go on where the last run here ended"),
    example("dsh run --timeout 20m --max-cost 2 --file task.md", "unattended, within limits"),
    example('dsh run --json "…" | jq -r \'select(.type == "result").answer\'', "for a program"),
    example('dsh run --output-schema verdict.json "is it safe?"', "an answer that is JSON")
  ],
  chat: [
    example("dsh chat", "a new session in the current folder; in a terminal dsh alone does the same"),
    example('dsh chat "where is the date parsed?"', "and the first message at once"),
    example("dsh chat --continue", "go on where the last session here ended")
  ],
  batch: [
    example("dsh batch tasks.jsonl --concurrency 8 --out results.jsonl", "eight at a time"),
    example("dsh batch tasks.jsonl --out results.jsonl --resume", "go on after Ctrl+C or kill -9"),
    example(
      "dsh batch tasks.jsonl --isolate worktree --retry 2 --timeout 20m --max-cost 5",
      "a worktree for each, within limits"
    ),
    example(`jq -nc '{task: "say hello"}' | dsh batch - | jq -r .finalResponse`, "from a pipe, to a pipe")
  ],
  demo: [example("dsh demo", "see it work, without a key")],
  config: [
    example("dsh config", "what holds here, and where it is said"),
    example("dsh config --json | jq .", "for a program")
  ],
  "credentials list": [example("dsh credentials list", "which keys there are, not what they are")],
  "credentials set": [
    example("dsh credentials set DEEPSEEK_API_KEY", "asks for the value"),
    example("pass show deepseek | dsh credentials set DEEPSEEK_API_KEY", "takes it from a pipe")
  ],
  "credentials unset": [example("dsh credentials unset DEEPSEEK_API_KEY", "forget it")],
  doctor: [example("dsh doctor", "what is missing, and what to do about it")],
  models: [example("dsh models", "what --model takes"), example("dsh models --json | jq -r .id", "for a program")],
  "permission allow": [
    example("dsh permission allow 'bash(git log *)'", "let this be done without asking"),
    example("dsh permission allow 'web_fetch(docs.example.com)'", "let pages of this host be read")
  ],
  "permission deny": [example("dsh permission deny 'bash(rm *)'", "never, whatever else is allowed")],
  "permission list": [example("dsh permission list", "which rules hold here, and whose they are")],
  "permission revoke": [example("dsh permission revoke 'bash(git log *)'", "take a rule back")],
  plugin: [
    example("dsh plugin add dsh-plugin-tickets", "add an extension"),
    example("dsh plugin list --json", "what was added, for a program"),
    example("dsh plugin --profile mine remove dsh-plugin-tickets", "take it out of another profile")
  ],
  "preset copy": [example("dsh preset copy standard mine", "an agent of your own to change")],
  "preset list": [example("dsh preset list", "what --preset takes")],
  "preset remove": [example("dsh preset remove mine --yes", "without being asked")],
  "preset show": [example("dsh preset show standard", "what it is made of")],
  "preset validate": [
    example("dsh preset validate", "all of them"),
    example("dsh preset validate ./my-agent", "one that is not installed yet")
  ],
  "session check": [example("dsh session check ID", "is the log whole?")],
  "session delete": [example("dsh session delete ID --yes", "without being asked")],
  "session diff": [
    example("dsh session diff ID", "what a session changed"),
    example("dsh session diff ID@3", "what its turn 3 changed")
  ],
  "session export": [example("dsh session export ID > session.jsonl", "the log as it is")],
  "session fork": [
    example("dsh session fork ID", "a copy that goes its own way"),
    example("dsh session fork ID@120", "with what happened up to event 120")
  ],
  "session list": [
    example("dsh session list", "last used first"),
    example("dsh session list --json | jq -r .id | head -1", "the last one")
  ],
  "session repair": [example("dsh session repair ID", "what check finds wrong")],
  "session rewind": [
    example("dsh session rewind ID@2 --dry-run", "what going back would do"),
    example("dsh session rewind ID@2", "back to the end of turn 2: the files and what was said")
  ],
  "session search": [example('dsh session search "flaky test"', "who has talked about it?")],
  "session show": [example("dsh session show ID | less", "what was said and done")],
  "session verify": [example("dsh session verify ID", "was every request what the log says?")],
  "settings edit": [example("EDITOR=vi dsh settings edit", "in your editor, checked when you leave it")],
  "settings get": [
    example("dsh settings get", "all of them"),
    example("dsh settings get agent-default-model.model", "one of them")
  ],
  "settings set": [
    example("dsh settings set agent-default-model.model deepseek-v4-pro", "for all runs from now on"),
    example("dsh settings set notifications.bell true", "hear when a run is over")
  ],
  "settings unset": [example("dsh settings unset agent-default-model", "as it was before")],
  "mock-llm": [
    example("dsh mock-llm --port 8080", "a model that says hello"),
    example("dsh mock-llm --scenario replies.jsonl", "a model that says what you want")
  ]
}

/** Those of a group are those of its commands, one each. */
export const ofGroup = (group: Group): ReadonlyArray<Example> =>
  Object.entries(examples).flatMap(([name, [first]]) =>
    name.startsWith(`${group} `) && first !== undefined ? [first] : []
  )
