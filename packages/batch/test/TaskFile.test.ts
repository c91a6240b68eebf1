// Files of tasks, and what is said about what is wrong with them.
import { digest } from "@dsh/batch/BatchTask"
import * as Span from "@dsh/batch/Span"
import * as TaskFile from "@dsh/batch/TaskFile"
import { assert, describe, it } from "@effect/vitest"

const said = (text: string) => TaskFile.parse(text).problems.map(TaskFile.show)

describe("a file of tasks", () => {
  it("is one object per line, whatever the lines end with; blank ones are none", () => {
    const { problems, tasks } = TaskFile.parse(
      '\uFEFF{"task":"a"}\r\n\n{"id":"x","task":"b","budget":{"timeout":"1h30m"}}\n'
    )
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(tasks, [
      { id: "task-1", task: "a", line: 1 },
      { id: "x", task: "b", budget: { timeout: "1h30m" }, line: 3 }
    ])
  })

  it("tells everything that is wrong with it, with line, field and what may have been meant", () => {
    const text = [
      '{"task":"fine"}',
      '{"tsak":"a","modle":"x"}',
      "{task: a}",
      '["a"]',
      '{"task":" ","id":7}',
      '{"task":"a","budget":{"steps":0,"timeout":"soon","tokns":1}}',
      '{"task":"a","env":{"DSH_HOME":"/x"}}'
    ]
    const problems = said(text.join("\n"))
    assert.include(problems, 'line 2: tsak is no field of it; did you mean "task"?')
    assert.include(problems, 'line 2: modle is no field of it; did you mean "model"?')
    assert.include(problems, "line 2: task is missing")
    assert.match(
      problems.find((line) => line.startsWith("line 3"))!,
      /^line 3: is no JSON \(.*a task is an object such as/
    )
    assert.match(
      problems.find((line) => line.startsWith("line 4"))!,
      /is no JSON object/
    )
    assert.include(problems, "line 5: task is not a text that says something")
    assert.isTrue(problems.some((line) => line.startsWith("line 5: id ")))
    assert.include(problems, "line 6: budget.steps is not a whole number above 0")
    assert.include(problems, 'line 6: budget.timeout is "soon"; it is a time above 0 such as 90s, 10m or 1h30m')
    assert.include(problems, 'line 6: budget.tokns is no field of it; did you mean "tokens"?')
    assert.isTrue(problems.some((line) => line.startsWith("line 7: env")))
    assert.isFalse(problems.some((line) => line.startsWith("line 1:")))
  })

  it("has no two tasks of one id or one session", () => {
    assert.deepStrictEqual(
      said('{"id":"a","task":"1"}\n{"id":"a","task":"2"}\n{"task":"3","sessionId":"s"}\n{"task":"4","sessionId":"s"}'),
      [
        'line 2: id is "a", as in line 1; each task has its own',
        'line 4: sessionId is "s", as in line 3; a session is gone on with by one task'
      ]
    )
    // An id that is given may be what another line would have been called.
    assert.deepStrictEqual(said('{"id":"task-2","task":"1"}\n{"task":"2"}').length, 1)
  })
})

describe("the digest of a task", () => {
  it("is the same for the same task, in whichever order and line it is written", () => {
    const [one, two, other] = TaskFile.parse(
      '{"id":"a","task":"t","env":{"A":"1","B":"2"}}\n\n{"env":{"B":"2","A":"1"},"task":"t","id":"a"}\n{"id":"a","task":"t","env":{"A":"1"}}'
    ).tasks.map(digest)
    assert.strictEqual(one, two)
    assert.notStrictEqual(one, other)
  })
})

describe("spans of time", () => {
  it("are read as people write them", () => {
    const cases: ReadonlyArray<readonly [string, number | undefined]> = [
      ["90s", 90_000],
      ["10m", 600_000],
      ["1h30m", 5_400_000],
      ["1.5h", 5_400_000],
      ["500ms", 500],
      ["90", 90_000],
      ["", undefined],
      ["0s", undefined],
      ["-1s", undefined],
      ["1 h", undefined],
      ["60d", undefined]
    ]
    for (const [text, millis] of cases) assert.strictEqual(Span.parse(text), millis, text)
  })

  it("are shown so that one number says most", () => {
    assert.deepStrictEqual([850, 4200, 200_000, 7_500_000].map(Span.show), [
      "850 ms",
      "4.2 s",
      "3 min 20 s",
      "2 h 5 min"
    ])
  })
})
