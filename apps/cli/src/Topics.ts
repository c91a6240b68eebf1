/**
 * What `dsh help` knows besides its commands.
 */

/** Name → what it is about. */
export const topics = {
  "exit-codes": "what a script can tell from how a command ended",
  environment: "the variables that it reads",
  output: "what goes to stdout and what to stderr"
} as const

export type Topic = keyof typeof topics

export const environment: ReadonlyArray<string> = [
  '  DEEPSEEK_API_KEY                the key of the model provider; without it, what "dsh credentials" keeps',
  "  DEEPSEEK_BASE_URL               another address for it",
  "  DSH_PERMISSION_MODE             what commands and tools may change: read-only, workspace-write (as without it), danger-full-access",
  "  DSH_MAX_RETRIES                 how often a failed request to the model is tried again, instead of 5 times",
  "  DSH_TOOLS_MODE                  how the model uses tools: native (one by one, as without it), ptc (only from programs), both",
  "  DSH_MAX_REPEATS                 how often the same tool call may be made with the same result, instead of 12 times; 0: no limit",
  "  DSH_HOME                        where sessions, settings and keys are kept, instead of ~/.dsh",
  "  DSH_SESSION_STORE               sqlite: they are kept in a database there"
]

const pages: Readonly<Record<Topic, ReadonlyArray<string>>> = {
  "exit-codes": [
    "Exit codes",
    "  0      completed; failures on the way that passed do not count",
    "  1      the agent failed, was ended or cut short; its answer does not fit; every tool call was denied",
    "  2      usage: the command line makes no sense, and nothing was started",
    "  3      configuration, credentials, composition or sandbox: something has to be set up first",
    "  124    a budget or the time ran out",
    "  129    ended by SIGHUP",
    "  130    ended by SIGINT, as by Ctrl-C",
    "  143    ended by SIGTERM; a server that is told to end so ends with 0",
    "",
    "  The last line on stderr says why: dsh: CODE: message. Codes are stable.",
    '  "dsh plugin" ends as the package manager does, and with 127 when there is none.'
  ],
  environment: [
    "Environment",
    ...environment,
    "  NO_COLOR                        no colour, whatever the terminal can"
  ],
  output: [
    "Output",
    "  stdout    the product alone: the answer, a listing, a file",
    '  stderr    everything else, in lines that begin with "dsh: "',
    "",
    '  --json prints JSON, one object per line. Lines of "dsh run --json" end with {"type":"result", …}.',
    "  A reader that goes away early, as head does, is no failure.",
    "  A second signal ends a command at once; the first one lets it clean up, for 10 seconds at most."
  ]
}

export const page = (topic: Topic): ReadonlyArray<string> => pages[topic]
