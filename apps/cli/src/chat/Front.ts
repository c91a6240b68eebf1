/**
 * What a person sees and presses: the view of a session above, an editor or a question below, and keys between the two. Plain code:
 * it does what the terminal and the log tell it, and hands on what is wanted of the agent.
 */
import type { Inbox } from "@dsh/protocol/Inbox"
import type { Outcome } from "@dsh/permission/Approval"
import { matchesKey } from "@earendil-works/pi-tui"
import type { AutocompleteProvider, Editor } from "@earendil-works/pi-tui"
import * as Approvals from "./Approvals.ts"
import type { Asked } from "./Approvals.ts"
import type { Dialog } from "./Dialog.ts"
import * as Input from "./Input.ts"
import type * as Painter from "./Painter.ts"
import * as Safe from "./Safe.ts"
import { Screen } from "./Screen.ts"
import type { Size } from "./Screen.ts"
import { Scrollback } from "./Scrollback.ts"
import * as Status from "./Status.ts"
import type { Standing } from "./Status.ts"
import type { Theme } from "./Theme.ts"
import type { View } from "./View.ts"

/** What is wanted of whoever holds the agent. */
export interface Actions {
  /** `steer`: also into what is running. */
  readonly submit: (text: string, how: "steer" | "queue") => void
  readonly cancel: () => void
  readonly takeBack: () => void
  readonly nextPermission: () => void
  readonly leave: () => void
}

/** The session that is shown. */
export interface Shown {
  readonly view: View
  readonly tools: Painter.Options["tools"]
  readonly inbox: () => Inbox
  readonly standing: () => Omit<Standing, "hint">
  /** Where it works. */
  readonly cwd: string
}

export interface Options {
  readonly theme: Theme
  readonly size: () => Size
  readonly write: (text: string) => void
  /** Something is to be painted. */
  readonly changed: () => void
  readonly now: () => number
  readonly suspend: () => void
}

const leaving = "Ctrl+C again leaves"

export class Front {
  readonly editor: Editor
  readonly #options: Options
  readonly #screen: Screen
  #scrollback = new Scrollback(0)
  #shown: Shown | undefined
  #actions: Actions | undefined
  #paint: Painter.Options
  #picker: Dialog | undefined
  #asked: ReadonlyArray<Asked> = []
  #approval: { readonly asked: Asked; readonly dialog: Dialog } | undefined
  /** Whether the keys go to a question although something is being written. */
  #answers = false
  #isArmed = false
  #startedAt = 0
  #above: Array<string> = []
  #repaint: "no" | "screen" | "all" = "no"

  constructor(options: Options) {
    this.#options = options
    this.#screen = new Screen(options.write, options.theme.color)
    this.#paint = { theme: options.theme, tools: undefined, reasoning: false, details: false }
    this.editor = Input.make(options.theme, options.size, options.changed)
    this.editor.onSubmit = (text) => this.#submit(text)
  }

  // ---------------------------------------------------------------------------
  // what is shown
  // ---------------------------------------------------------------------------

  /** From here on this session, from that item on. What was written of another one stays in the scrollback. */
  show(shown: Shown, actions: Actions, completion: AutocompleteProvider, from: number): void {
    this.#shown = shown
    this.#actions = actions
    this.#paint = { ...this.#paint, tools: shown.tools }
    this.#scrollback = new Scrollback(from)
    this.editor.setAutocompleteProvider(completion)
    this.#options.changed()
  }

  /** The session that is shown ends. */
  hide(): void {
    this.render()
    this.#shown = undefined
    this.#actions = undefined
    this.#picker = undefined
  }

  /** The log of the session has grown. */
  changed(): void {
    const isRunning = this.#shown?.view.isRunning === true
    if (!isRunning) this.#startedAt = 0
    else if (this.#startedAt === 0) this.#startedAt = this.#options.now()
    this.#options.changed()
  }

  get isRunning(): boolean {
    return this.#shown?.view.isRunning === true
  }

  /** Something that is in no log. */
  say(kind: "notice" | "failure", text: string): void {
    if (this.#shown === undefined) this.#above.push(...Safe.text(`! ${text}`).split("\n"))
    else this.#shown.view.say(kind, text)
    this.#options.changed()
  }

  pick(dialog: Dialog | undefined): void {
    this.#picker = dialog
    this.#options.changed()
  }

  /** Nothing that is on the screen can be trusted any more. */
  resized(): void {
    this.#repaint = "screen"
    this.#options.changed()
  }

  leave(): string {
    return this.#screen.leave()
  }

  // ---------------------------------------------------------------------------
  // approvals
  // ---------------------------------------------------------------------------

  /** Puts a question; the result takes it back. */
  ask(asked: Asked): () => void {
    this.#asked = [...this.#asked, asked]
    this.#options.changed()
    return () => {
      this.#asked = this.#asked.filter((one) => one !== asked)
      this.#options.changed()
    }
  }

  #question(): Dialog | undefined {
    const [asked] = this.#asked
    if (asked === undefined) {
      this.#approval = undefined
      this.#answers = false
      return undefined
    }
    if (this.#approval?.asked !== asked) {
      const answer = (outcome: Outcome): void => {
        this.#asked = this.#asked.filter((one) => one !== asked)
        this.#answers = false
        asked.answer(outcome)
        this.#options.changed()
      }
      const call = this.#shown?.view.items.findLast((item) => item.kind === "tool" && item.callId === asked.callId)
      const dialog = Approvals.dialog(asked, call?.kind === "tool" ? call : undefined, answer, {
        paint: this.#paint,
        cwd: this.#shown?.cwd ?? "",
        waiting: () => this.#asked.length - 1
      })
      this.#approval = { asked, dialog }
    }
    return this.#approval?.dialog
  }

  // ---------------------------------------------------------------------------
  // keys
  // ---------------------------------------------------------------------------

  key(data: string): void {
    const wasArmed = this.#isArmed
    this.#isArmed = false
    if (matchesKey(data, "ctrl+c") && this.#picker === undefined) this.#interrupt(wasArmed)
    else if (this.#picker !== undefined) this.#picker.key(data)
    else this.#typed(data)
    this.#options.changed()
  }

  /** The first one ends what is nearest, the second one the chat. */
  #interrupt(wasArmed: boolean): void {
    if (wasArmed) return this.#actions?.leave()
    this.#isArmed = true
    if (this.editor.getText() !== "") this.editor.setText("")
    else if (this.isRunning) this.#actions?.cancel()
  }

  #typed(data: string): void {
    const actions = this.#actions
    const isEmpty = this.editor.getText() === ""
    const question = this.#question()
    if (question !== undefined && !isEmpty && matchesKey(data, "tab")) {
      this.#answers = !this.#answers
      return
    }
    if (question !== undefined && (isEmpty || this.#answers)) return question.key(data)
    if (matchesKey(data, "ctrl+z")) return this.#options.suspend()
    if (matchesKey(data, "ctrl+l")) return this.resized()
    if (matchesKey(data, "ctrl+t")) return this.#toggle({ reasoning: !this.#paint.reasoning })
    if (matchesKey(data, "ctrl+o")) return this.#toggle({ details: !this.#paint.details })
    if (matchesKey(data, "shift+tab")) return actions?.nextPermission()
    if (matchesKey(data, "alt+up")) return actions?.takeBack()
    if (matchesKey(data, "ctrl+d") && isEmpty) return actions?.leave()
    if (!this.editor.isShowingAutocomplete()) {
      if (matchesKey(data, "escape")) return this.isRunning ? actions?.cancel() : undefined
      if (matchesKey(data, "tab") && this.isRunning && !isEmpty) {
        const text = this.editor.getExpandedText().trim()
        this.editor.setText("")
        return this.#send(text, "queue")
      }
    }
    this.editor.handleInput(data)
  }

  #toggle(change: Partial<Pick<Painter.Options, "reasoning" | "details">>): void {
    this.#paint = { ...this.#paint, ...change }
    this.#repaint = "all"
  }

  #submit(text: string): void {
    this.#send(text.trim(), "steer")
  }

  #send(text: string, how: "steer" | "queue"): void {
    if (text === "") return
    this.editor.addToHistory(text)
    this.#actions?.submit(text, how)
  }

  // ---------------------------------------------------------------------------
  // painting
  // ---------------------------------------------------------------------------

  render(): void {
    const shown = this.#shown
    if (shown === undefined) return
    const size = this.#options.size()
    const { columns, rows } = size
    const fresh = [...this.#above.splice(0), ...this.#scrollback.advance(shown.view, columns, this.#paint)]
    const fixed = this.#fixed(shown, columns)
    const room = Math.max(0, rows - fixed.length)
    const rest = this.#scrollback.rest(shown.view, columns, this.#paint)
    const live = [...rest.slice(Math.max(0, rest.length - room)), ...fixed]
    const repaint = this.#repaint
    this.#repaint = "no"
    if (repaint === "no") return this.#screen.paint({ above: fresh, live }, size)
    const free = Math.max(0, rows - live.length)
    const tail = this.#scrollback.tail(shown.view, columns, free, this.#paint)
    const above = repaint === "all" ? tail : tail.slice(Math.max(0, tail.length - free))
    this.#screen.repaint({ above, live }, size)
  }

  #fixed({ inbox, standing, view }: Shown, width: number): ReadonlyArray<string> {
    const { now, theme } = this.#options
    const question = this.#picker ?? this.#question()
    const isInFront =
      question !== undefined && (this.#picker !== undefined || this.#answers || this.editor.getText() === "")
    const seconds = this.#startedAt === 0 ? 0 : Math.floor((now() - this.#startedAt) / 1000)
    const hint = this.#isArmed
      ? leaving
      : question !== undefined && !isInFront
        ? "Tab: answer the question above"
        : undefined
    return [
      ...(view.isRunning && question === undefined ? ["", Status.activity(view, seconds, width, theme)] : []),
      ...Status.queue(inbox(), view, width, theme),
      ...(question === undefined ? [] : question.render(width)),
      ...(isInFront ? [] : this.editor.render(width)),
      Status.footer({ ...standing(), hint }, width, theme)
    ]
  }
}
