import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Schedule } from "effect"
import * as NodeFs from "node:fs"
import { createConnection } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Attachments from "../src/Attachments.ts"
import * as AttachmentsLocal from "../src/AttachmentsLocal.ts"
import * as Images from "./images.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => NodeFs.realpathSync(NodeFs.mkdtempSync(join(tmpdir(), "dsh-attachments-")))),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

const inFolder = <A, E>(
  test: (store: Attachments.Attachments["Type"], root: string) => Effect.Effect<A, E>,
  limits: Partial<Attachments.Limits> = {}
) =>
  Effect.flatMap(folder, (path) => {
    const root = join(path, "attachments")
    return Effect.flatMap(AttachmentsLocal.make({ root, limits }), (store) => test(store, root))
  })

const save = (store: Attachments.Attachments["Type"], data: Uint8Array | string, mediaType?: string) =>
  Effect.map(store.saveImages([{ data, ...(mediaType !== undefined && { mediaType }) }]), ([saved]) => saved!)

describe("AttachmentsLocal", () => {
  it.scopedLive("keeps what is small and clean as it is, once, where only the user can read it", () =>
    inFolder((store, root) =>
      Effect.gen(function* () {
        for (const [make, mediaType] of [
          [Images.png, "image/png"],
          [Images.jpeg, "image/jpeg"],
          [Images.webp, "image/webp"]
        ] as const) {
          const bytes = make(Images.picture(40, 20))
          const { original, ref } = yield* save(store, bytes)
          assert.deepInclude(ref, { mediaType, bytes: bytes.length, width: 40, height: 20 })
          assert.deepStrictEqual(original, { mediaType, width: 40, height: 20 })
          assert.isTrue(bytes.equals(yield* store.read(ref.id)))
          const path = join(root, "v1/objects", ref.id.slice(7, 9), ref.id.slice(7))
          assert.strictEqual(NodeFs.statSync(path).mode & 0o777, 0o600)
          assert.deepStrictEqual((yield* save(store, bytes.toString("base64"))).ref, ref)
          assert.strictEqual(NodeFs.readdirSync(join(path, "..")).length, 1)
        }
      })
    )
  )

  it.scopedLive("shrinks what is too large, and leaves nothing in it but the picture", () =>
    inFolder((store) =>
      Effect.gen(function* () {
        const cases: ReadonlyArray<[name: string, bytes: Buffer, mediaType: string, width: number, height: number]> = [
          ["wide", Images.png(Images.picture(4096, 100)), "image/png", 2048, 50],
          ["high", Images.jpeg(Images.picture(30, 3000)), "image/jpeg", 20, 2048],
          ["thin", Images.png(Images.picture(5000, 1)), "image/png", 2048, 1],
          ["text", Images.withText(Images.png(Images.picture(8, 8))), "image/png", 8, 8],
          ["behind", Buffer.concat([Images.png(Images.picture(8, 8)), Buffer.from("<?php")]), "image/png", 8, 8],
          ["comment", commented(Images.jpeg(Images.picture(8, 8))), "image/jpeg", 8, 8],
          ["moving", Images.gif, "image/png", 1, 1],
          [
            "sixteen bits",
            Images.rawPng(2, 1, 16, 2, Buffer.from("00ffff0000000000000000ffff", "hex")),
            "image/png",
            2,
            1
          ]
        ]
        for (const [name, bytes, mediaType, width, height] of cases) {
          const { ref } = yield* save(store, bytes)
          assert.deepInclude(ref, { mediaType, width, height }, name)
          const kept = Buffer.from(yield* store.read(ref.id))
          assert.deepInclude(Images.seen(kept), { width, height }, name)
          assert.notMatch(kept.toString("latin1"), /Author|somebody|php|comment/, name)
          // What is kept is clean.
          assert.strictEqual((yield* save(store, kept)).ref.id, ref.id, name)
          if (mediaType === "image/png" && name !== "thin") assert.strictEqual(kept[24], 8, name)
        }
        assert.strictEqual(Images.seen(yield* store.read((yield* save(store, Images.gif)).ref.id)).left, "red")
      })
    )
  )

  it.scopedLive("shrinks what is very wide or very high", () =>
    inFolder((store) =>
      Effect.gen(function* () {
        for (const [width, height, shrunk] of [
          [12_000, 600, [2048, 102]],
          [600, 12_000, [102, 2048]]
        ] as const) {
          const { ref } = yield* save(store, Images.png(Images.picture(width, height)))
          assert.deepStrictEqual([ref.width, ref.height], [...shrunk])
          const seen = Images.seen(Buffer.from(yield* store.read(ref.id)))
          assert.deepInclude(seen, { width: shrunk[0], height: shrunk[1] })
        }
      })
    )
  )

  it.scopedLive("turns a photograph the way it was taken", () =>
    inFolder((store) =>
      Effect.gen(function* () {
        const photo = Images.jpeg(Images.cornered(64, 32))
        const bright = ["upper left", "upper right", "lower right", "lower left"]
        for (let orientation = 1; orientation <= 8; orientation++) {
          const { original, ref } = yield* save(store, Images.turned(photo, orientation))
          const [width, height] = orientation < 5 ? [64, 32] : [32, 64]
          const picture = Images.seen(yield* store.read(ref.id))
          const expected = { width, height, bright: [bright[(orientation - 1) % 4]!] }
          assert.deepInclude(picture, expected, `orientation ${orientation}`)
          assert.deepStrictEqual([ref.width, original.width], [width, width])
        }
      })
    )
  )

  it.scopedLive("makes a picture that is too much for PNG a JPEG, on white", () =>
    inFolder((store) =>
      Effect.gen(function* () {
        const { ref } = yield* save(store, Images.png(Images.noise(1300, 1100)))
        assert.strictEqual(ref.mediaType, "image/jpeg")
        assert.isAtMost(ref.bytes, 4 * 1024 * 1024)
        const clear = yield* save(store, Images.png(Images.picture(16, 16, [0, 0, 0, 0])))
        assert.strictEqual(clear.ref.mediaType, "image/png")
      })
    )
  )

  it.scopedLive("refuses what is no image it can show, says why, and keeps nothing of the batch", () =>
    inFolder(
      (store, root) =>
        Effect.gen(function* () {
          const good = Images.png(Images.picture(8, 8))
          const cases: ReadonlyArray<
            [data: Uint8Array | string, mediaType: string | undefined, code: string, says: RegExp]
          > = [
            [Buffer.from("<!DOCTYPE html><html>"), "image/png", "UNSUPPORTED_IMAGE_TYPE", /HTML.*error page/],
            [
              Buffer.from("\0\0\0\x18ftypheic\0\0\0\0"),
              undefined,
              "UNSUPPORTED_IMAGE_TYPE",
              /HEIC.*sips -s format jpeg.*heif-convert/
            ],
            [Buffer.from("<svg xmlns=''/>"), undefined, "UNSUPPORTED_IMAGE_TYPE", /SVG/],
            [Buffer.from("text"), undefined, "UNSUPPORTED_IMAGE_TYPE", /no image that is known/],
            [Buffer.alloc(0), undefined, "UNSUPPORTED_IMAGE_TYPE", /no image/],
            [good, "image/jpeg", "IMAGE_TYPE_MISMATCH", /said to be image\/jpeg and is image\/png/],
            [good.subarray(0, 20), undefined, "INVALID_IMAGE", /header/],
            [good.subarray(0, good.length - 20), undefined, "INVALID_IMAGE", /cannot be decoded/],
            [Images.rawPng(100, 100, 8, 6, Buffer.alloc(4)), undefined, "INVALID_IMAGE", /cannot be decoded/],
            [
              Images.rawPng(40_000, 1, 8, 0, Buffer.alloc(40_001)),
              undefined,
              "IMAGE_DIMENSION_TOO_LARGE",
              /40000x1.*32768/
            ],
            // A bomb: it says so before anything is unpacked.
            [Images.rawPng(60_000, 60_000, 8, 0, Buffer.alloc(10)), undefined, "IMAGE_TOO_MANY_PIXELS", /60000x60000/],
            [Images.rawPng(0, 5, 8, 0, Buffer.alloc(10)), undefined, "INVALID_IMAGE", /header/],
            ["not base64!", undefined, "INVALID_IMAGE_BASE64", /base64/],
            [good.toString("base64").replace(/=*$/, "\n"), undefined, "INVALID_IMAGE_BASE64", /base64/],
            [Buffer.alloc(30_000), undefined, "IMAGE_TOO_LARGE", /30000 bytes; at most 20000/],
            ["A".repeat(40_000), undefined, "IMAGE_TOO_LARGE", /at most 20000/]
          ]
          for (const [data, mediaType, code, says] of cases) {
            const image = { data, ...(mediaType !== undefined && { mediaType }) }
            const refused = yield* Effect.flip(store.saveImages([{ data: good }, { ...image, name: "it" }]))
            assert.strictEqual(refused.code, code, refused.message)
            assert.match(refused.message, says)
          }
          const many = yield* Effect.flip(store.saveImages(Array.from({ length: 4 }, () => ({ data: good }))))
          assert.strictEqual(many.code, "TOO_MANY_IMAGES")
          const large = { data: Buffer.concat([good, Buffer.alloc(15_000)]) }
          assert.strictEqual((yield* Effect.flip(store.saveImages([large, large]))).code, "IMAGES_TOO_LARGE")
          assert.isFalse(NodeFs.existsSync(root))
        }),
      { maxBytes: 20_000, maxTotalBytes: 25_000, maxImages: 3 }
    )
  )

  it.scopedLive("says what is wrong with the store", () =>
    inFolder((store, root) =>
      Effect.gen(function* () {
        const codeOf = (id: string) =>
          Effect.map(Effect.either(store.read(id)), (it) => (Either.isLeft(it) ? it.left.code : ""))
        assert.strictEqual(yield* codeOf("../../etc/passwd"), "INVALID_ATTACHMENT_REF")
        assert.strictEqual(yield* codeOf(`sha256:${"0".repeat(64)}`), "ATTACHMENT_NOT_FOUND")
        const bytes = Images.png(Images.picture(8, 8))
        const { ref } = yield* save(store, bytes)
        const path = join(root, "v1/objects", ref.id.slice(7, 9), ref.id.slice(7))
        NodeFs.writeFileSync(path, "other")
        assert.strictEqual(yield* codeOf(ref.id), "ATTACHMENT_CORRUPT")
        // Given again, it is whole again.
        yield* save(store, bytes)
        assert.strictEqual(yield* codeOf(ref.id), "")
        NodeFs.rmSync(root, { recursive: true })
        NodeFs.writeFileSync(root, "")
        const failed = yield* Effect.flip(save(store, bytes))
        assert.strictEqual(failed.code, "ATTACHMENT_WRITE_FAILED")
      })
    )
  )

  it.scopedLive("ends the thread of an image when it is interrupted", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const [program, socket] = [join(path, "busy.cjs"), join(path, "socket")]
      // Whoever is there can be connected to, however busy.
      NodeFs.writeFileSync(
        program,
        `require("node:net").createServer().listen(${JSON.stringify(socket)}, () => { for (;;); })`
      )
      const busy = yield* AttachmentsLocal.make({ root: join(path, "a"), program, concurrency: 1 })
      const saving = yield* Effect.fork(busy.saveImages([{ data: Images.gif }]))
      yield* Effect.retry(connect(socket), Schedule.spaced("5 millis"))
      yield* Fiber.interrupt(saving)
      assert.match(yield* Effect.flip(connect(socket)), /ECONNREFUSED|ENOENT/)
      // And its place is free again.
      const another = yield* Effect.fork(busy.saveImages([{ data: Images.gif }]))
      NodeFs.rmSync(socket, { force: true })
      yield* Effect.retry(connect(socket), Schedule.spaced("5 millis"))
      yield* Fiber.interrupt(another)
    })
  )

  it.scopedLive("an image that ends its decoder is damaged, and nothing else is", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const program = join(path, "crash.cjs")
      for (const body of ["process.exit(3)", "throw new Error('no')", "new Array(2 ** 32)"]) {
        NodeFs.writeFileSync(program, body)
        const store = yield* AttachmentsLocal.make({ root: join(path, "a"), program })
        const { code } = yield* Effect.flip(store.saveImages([{ data: Images.gif }]))
        assert.strictEqual(code, "INVALID_IMAGE", body)
      }
    })
  )
})

const connect = (path: string) =>
  Effect.async<void, string>((resume) => {
    const socket = createConnection(path)
    socket.once("connect", () => resume(Effect.succeed(void socket.destroy())))
    socket.once("error", (error) => resume(Effect.fail(String(error))))
  })

/** With a comment that nobody asked for. */
const commented = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, 2), Buffer.from("\xff\xfe\x00\x09comment", "latin1"), bytes.subarray(2)])
