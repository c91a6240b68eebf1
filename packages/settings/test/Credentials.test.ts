// Where keys are looked for, kept and changed, by one contract; and what only a file has.
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { FileSystem } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Option, Redacted, Stream } from "effect"
import type { Scope } from "effect"
import * as Credentials from "../src/Credentials.ts"
import * as CredentialsEnvOnly from "../src/CredentialsEnvOnly.ts"
import * as CredentialsLocal from "../src/CredentialsLocal.ts"
import * as CredentialsMemory from "../src/CredentialsMemory.ts"

type Service = Credentials.Credentials["Type"]

interface Given {
  readonly env?: Readonly<Record<string, string>>
  readonly projectEnv?: ReadonlyMap<string, string>
  readonly userEnv?: ReadonlyMap<string, string>
}

const secret = (text: string) => Redacted.make(text)

/** The value and its source, as one text. */
const found = (credentials: Service, ref: string) =>
  Effect.map(credentials.resolve(ref), (resolved) =>
    Option.match(resolved, {
      onNone: () => "none",
      onSome: ({ source, value }) => `${Redacted.value(value)} (${source})`
    })
  )

const withEnv = (env: Readonly<Record<string, string>> = {}) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env))))

const suite = (name: string, make: (given: Given) => Effect.Effect<Service, never, Scope.Scope>) =>
  describe(`${name} keeps the contract`, () => {
    it.scopedLive(
      "the environment wins over what is kept, that over .env of the project, that over .env of the user",
      () =>
        Effect.gen(function* () {
          const credentials = yield* make({
            env: { A: "env", B: " ", C: "" },
            projectEnv: new Map([
              ["A", "p"],
              ["B", "p"],
              ["C", "p"],
              ["D", ""]
            ]),
            userEnv: new Map([
              ["C", "u"],
              ["D", "u"]
            ])
          })
          assert.strictEqual(yield* found(credentials, "A"), "env (env)")
          assert.strictEqual(yield* found(credentials, "B"), "p (project-env)")
          assert.strictEqual(yield* found(credentials, "D"), "u (user-env)")
          assert.strictEqual(yield* found(credentials, "E"), "none")
          yield* credentials.set("B", secret(" kept\n"))
          assert.strictEqual(yield* found(credentials, "B"), "kept (file)")
          assert.deepStrictEqual(yield* credentials.list, ["B"])
          assert.deepStrictEqual(yield* credentials.describe("A"), { configured: true, source: "env", writable: false })
          assert.deepStrictEqual(yield* credentials.describe("B"), { configured: true, source: "file", writable: true })
          assert.deepStrictEqual(yield* credentials.describe("E"), { configured: false, writable: true })
          assert.isTrue(yield* credentials.unset("B"))
          assert.isFalse(yield* credentials.unset("B"))
          assert.strictEqual(yield* found(credentials, "B"), "p (project-env)")
        })
    )

    it.scopedLive("nothing is set or unset behind the environment, and no key that is none", () =>
      Effect.gen(function* () {
        const credentials = yield* make({ env: { A: "env" } })
        for (const change of [credentials.set("A", secret("x")), credentials.unset("A")]) {
          const refused = yield* Effect.flip(change)
          assert.strictEqual(refused.code, "CREDENTIAL_SHADOWED")
          assert.include(refused.message, "A is set in the environment")
        }
        for (const value of ["", "two words", "“quoted”", "line\nbreak"]) {
          const refused = yield* Effect.flip(credentials.set("B", secret(value)))
          assert.strictEqual(refused.code, "INVALID_CREDENTIAL")
          if (value !== "") assert.notInclude(refused.message, value)
        }
        const typed = yield* Effect.flip(credentials.set("sk-secret", secret("x")))
        assert.strictEqual(typed.code, "INVALID_REFERENCE")
        assert.notInclude(typed.message, "secret")
        const missing = yield* Effect.flip(Credentials.obtain(credentials, "B"))
        assert.strictEqual(missing.code, "MISSING_CREDENTIAL")
        assert.include(missing.message, "dsh credentials set B")
      })
    )

    it.scopedLive("records are read, modified by one at a time, and deleted", () =>
      Effect.gen(function* () {
        const credentials = yield* make({})
        const count = (record: Option.Option<Credentials.Record>) =>
          Option.isSome(record) && record.value.kind === "grant" ? Number(Redacted.value(record.value.payload)) : 0
        yield* Effect.forEach(
          Array.from({ length: 8 }),
          () =>
            credentials.modifyRecord("mcp/calendar", (record) =>
              Effect.as(
                Effect.yieldNow(),
                Option.some({ kind: "grant" as const, payload: Redacted.make<unknown>(count(record) + 1) })
              )
            ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(count(yield* credentials.readRecord("mcp/calendar")), 8)
        const apiKey = { kind: "api-key" as const, key: secret("k"), env: { REGION: secret("eu") } }
        yield* credentials.modifyRecord("pi-ai/x", () => Effect.succeed(Option.some(apiKey)))
        const read = Option.getOrThrow(yield* credentials.readRecord("pi-ai/x"))
        assert.isTrue(read.kind === "api-key" && Redacted.value(read.env?.["REGION"] ?? secret("")) === "eu")
        assert.deepStrictEqual(yield* credentials.listRecords, [
          { key: "mcp/calendar", kind: "grant" },
          { key: "pi-ai/x", kind: "api-key" }
        ])
        const failed = yield* Effect.flip(credentials.modifyRecord("pi-ai/x", () => Effect.fail("no")))
        assert.strictEqual(failed, "no")
        assert.isTrue(yield* credentials.deleteRecord("pi-ai/x"))
        assert.isFalse(yield* credentials.deleteRecord("pi-ai/x"))
        assert.isTrue(Option.isNone(yield* credentials.readRecord("pi-ai/x")))
        assert.strictEqual((yield* Effect.flip(credentials.readRecord("x"))).code, "INVALID_REFERENCE")
      })
    )

    it.scopedLive("who listens hears which reference is another", () =>
      Effect.gen(function* () {
        const credentials = yield* make({})
        const heard = yield* Effect.fork(Stream.runHead(credentials.changes))
        let n = 0
        // Until somebody listens there is nothing to hear.
        yield* Effect.repeat(
          Effect.delay(
            Effect.suspend(() => credentials.set("A", secret(`v${(n += 1)}`))),
            "1 millis"
          ),
          { until: () => Effect.map(Fiber.poll(heard), Option.isSome) }
        )
        assert.deepStrictEqual(yield* Fiber.join(heard), Option.some("A"))
      })
    )
  })

suite("CredentialsMemory", (given) => CredentialsMemory.make(given))

suite("CredentialsLocal", ({ env, ...files }) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* Effect.orDie(fs.makeTempDirectoryScoped())
    return yield* withEnv(env)(CredentialsLocal.make({ folder: `${root}/home`, ...files }))
  }).pipe(Effect.provide(NodeFileSystem.layer))
)

/** Credentials in a folder, with a file of this text in it. */
const withFile = <A, E>(
  text: string,
  use: (credentials: Service, file: string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const file = `${folder}/.credentials.yaml`
    yield* fs.writeFileString(file, text, { mode: 0o600 })
    return yield* use(yield* withEnv()(CredentialsLocal.make({ folder })), file, fs)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

describe("CredentialsLocal, the file", () => {
  it.scopedLive("is made for its owner alone", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* fs.makeTempDirectoryScoped()
      const credentials = yield* withEnv()(CredentialsLocal.make({ folder: `${root}/home` }))
      yield* credentials.set("A", secret("sk-1"))
      assert.strictEqual((yield* fs.stat(`${root}/home`)).mode & 0o777, 0o700)
      assert.strictEqual((yield* fs.stat(`${root}/home/.credentials.yaml`)).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* fs.readDirectory(`${root}/home`), [".credentials.yaml"])
      assert.strictEqual(yield* fs.readFileString(`${root}/home/.credentials.yaml`), "version: 1\nrefs:\n  A: sk-1\n")
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.live("that others may read is refused with the command that mends it", () =>
    withFile("version: 1\nrefs: {A: sk-1}\n", (credentials, file, fs) =>
      Effect.gen(function* () {
        for (const mode of [0o640, 0o604, 0o660]) {
          yield* fs.chmod(file, mode)
          for (const use of [credentials.resolve("A"), credentials.set("A", secret("x"))]) {
            const refused = yield* Effect.flip(use)
            assert.strictEqual(refused.code, "CREDENTIALS_EXPOSED")
            assert.include(refused.message, `chmod 600 ${file}`)
          }
        }
        yield* fs.chmod(file, 0o600)
        yield* fs.chmod(file.replace("/.credentials.yaml", ""), 0o777)
        assert.match((yield* Effect.flip(credentials.resolve("A"))).message, /chmod 700/)
      })
    )
  )

  it.live("keeps comments, and is told from one without a version, which gets one when it is written", () =>
    Effect.gen(function* () {
      const kept = yield* withFile("# mine\nversion: 1\nrefs:\n  A: sk-1 # old\n", (credentials, file, fs) =>
        Effect.zipRight(credentials.set("B", secret("sk-2")), fs.readFileString(file))
      )
      assert.strictEqual(kept, "# mine\nversion: 1\nrefs:\n  A: sk-1 # old\n  B: sk-2\n")
      const migrated = yield* withFile("A: sk-1\nB: sk-2\n", (credentials, file, fs) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* found(credentials, "B"), "sk-2 (file)")
          yield* credentials.set("B", secret("sk-3"))
          return yield* fs.readFileString(file)
        })
      )
      assert.strictEqual(migrated, "version: 1\nrefs:\n  A: sk-1\n  B: sk-3\n")
    })
  )

  for (const [what, text] of [
    ["no YAML", "refs: [sk-secret"],
    ["a key twice", "version: 1\nrefs:\n  A: sk-secret\n  A: sk-secret\n"],
    ["an alias to nothing", "version: 1\nrefs: { A: *sk-secret }\n"],
    ["another version", "version: 2\nrefs: { A: sk-secret }\n"],
    ["no version", "refs: { A: sk-secret }\n"],
    ["an unknown key", "version: 1\nsk-secret: 1\n"],
    ["a name that is none", "version: 1\nrefs: { sk-secret: x }\n"],
    ["an empty value", "version: 1\nrefs: { A: '' }\n"],
    ["a value that is no text", "version: 1\nrefs: { A: [sk-secret] }\n"],
    ["a record of an unknown kind", "version: 1\nrecords: { a/b: { kind: sk-secret } }\n"],
    ["a record with an unknown key", "version: 1\nrecords: { a/b: { kind: grant, payload: 1, sk-secret: 1 } }\n"]
  ] as const) {
    it.live(`with ${what} is refused with its place and none of its words, and left as it is`, () =>
      withFile(text, (credentials, file, fs) =>
        Effect.gen(function* () {
          for (const use of [credentials.resolve("A"), credentials.set("B", secret("x"))]) {
            const failure = yield* Effect.flip(use)
            assert.strictEqual(failure.code, "CREDENTIALS_INVALID")
            assert.match(failure.message, /\.credentials\.yaml:\d+:\d+: /)
            assert.notInclude(failure.message, "secret")
          }
          assert.strictEqual(yield* fs.readFileString(file), text)
        })
      )
    )
  }

  it.live("counts at once when somebody else changes it, and who listens hears of it", () =>
    withFile("version: 1\nrefs: {A: sk-1}\n", (credentials, file, fs) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* found(credentials, "A"), "sk-1 (file)")
        yield* fs.writeFileString(file, "version: 1\nrefs: {A: sk-2}\n")
        assert.strictEqual(yield* found(credentials, "A"), "sk-2 (file)")
        const heard = yield* Effect.fork(Stream.runHead(credentials.changes))
        let n = 0
        yield* Effect.repeat(
          Effect.zipRight(
            Effect.suspend(() => {
              // As editors do it: at no moment is it half written.
              const text = `version: 1\nrefs: {A: sk-2, B: sk-${(n += 1)}}\n`
              return Effect.zipRight(
                fs.writeFileString(`${file}.new`, text, { mode: 0o600 }),
                fs.rename(`${file}.new`, file)
              )
            }),
            Effect.sleep("150 millis")
          ),
          { until: () => Effect.map(Fiber.poll(heard), Option.isSome) }
        )
        assert.deepStrictEqual(yield* Fiber.join(heard), Option.some("B"))
      })
    )
  )
})

describe("CredentialsEnvOnly", () => {
  it.effect("knows the environment, and keeps nothing", () =>
    Effect.gen(function* () {
      const credentials = yield* withEnv({ A: "sk-1" })(CredentialsEnvOnly.make)
      assert.strictEqual(yield* found(credentials, "A"), "sk-1 (env)")
      assert.strictEqual((yield* Effect.flip(credentials.set("B", secret("x")))).code, "CREDENTIALS_UNWRITABLE")
    })
  )
})
