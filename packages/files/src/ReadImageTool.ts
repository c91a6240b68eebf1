/**
 * The `read_image` tool: an image file, shown to the model. What enters the log is a reference to the image as `Attachments` keeps it.
 */
import { Attachments } from "@dsh/attachments/Attachments"
import type { AttachmentError, SavedImage } from "@dsh/attachments/Attachments"
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { PromptError, SystemPrompt } from "@dsh/prompt/SystemPrompt"
import { showsImages } from "@dsh/protocol/Request"
import type { Session } from "@dsh/session/Session"
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import type { ToolRegistrationError, Tools } from "@dsh/tools/Tools"
import { Fs, FsError } from "@dsh/world/Fs"
import type { FsTarget } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { extname } from "node:path"
import * as FileTool from "./FileTool.ts"
import * as NameHint from "./NameHint.ts"
import * as ObservedFiles from "./ObservedFiles.ts"

const Parameters = Schema.Struct({ file_path: FileTool.FilePath })

const Value = Schema.Struct({
  path: Schema.String,
  image: Schema.Struct({
    id: Schema.String,
    mediaType: Schema.String,
    bytes: Schema.Number,
    width: Schema.Number,
    height: Schema.Number
  }),
  original: Schema.Struct({ mediaType: Schema.String, width: Schema.Number, height: Schema.Number }),
  observed: FileTool.Observed
})

const section = {
  name: "read_image",
  order: 100,
  text: "Look at image files with the read_image tool."
}

/** By the ending of the name. */
const mediaTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".webp": "image/webp",
  ".gif": "image/gif"
}

export const tool: Tool.Tool<Fs | ObservedFiles.ObservedFiles | Attachments> = Tool.make({
  name: "read_image",
  description:
    "Shows an image file: PNG, JPEG, WebP or GIF, of which the first frame is shown. Large images are shrunk; the result says by how much.",
  parameters: Parameters,
  output: Value,
  parallelSafe: true,
  timeout: FileTool.timeout,
  execute: ({ file_path }, { cwd, session }) =>
    Effect.gen(function* () {
      const fs = yield* Fs
      const observed = yield* ObservedFiles.ObservedFiles
      const attachments = yield* Attachments
      yield* visible(session)
      const target = yield* fs.resolve(file_path, { cwd })
      const mediaType = yield* mediaTypeOf(target)
      const { maxBytes, maxTotalBytes } = attachments.limits
      const content = yield* Effect.catchAll(
        fs.readBytes(target, { maxBytes: Math.min(maxBytes, maxTotalBytes) }),
        (error) => unread(error, fs, target)
      )
      const [saved] = yield* attachments.saveImages([{ data: content.bytes, mediaType, name: target.displayPath }])
      // One was given, so one was saved.
      const { original, ref } = saved!
      const sighting = { key: target.targetKey, version: content.version }
      yield* observed.record(session, sighting.key, { version: sighting.version })
      return { path: target.displayPath, image: ref, original, observed: sighting }
    }).pipe(Effect.mapError(FileTool.failed)),
  render: (_, { image, original, path }) => [
    {
      type: "text",
      text: `<path>${path}</path>\n<type>image</type>\n<content>\n${describe(image, original)}\n</content>`
    },
    { type: "image", attachment: image }
  ],
  meta: (_, { observed }) => ObservedFiles.meta(observed),
  present: {
    call: ({ file_path }) => ({
      view: "generic",
      title: `Look at ${file_path}`,
      kind: "read",
      locations: [{ path: file_path }]
    })
  }
})

export const layer: Layer.Layer<
  never,
  ToolRegistrationError | PromptError,
  Tools | SystemPrompt | Fs | ObservedFiles.ObservedFiles | Attachments
> = GuidedTool.layer(tool, section)

const describe = (
  { bytes, height, mediaType, width }: typeof Value.Type.image,
  original: SavedImage["original"] | typeof Value.Type.original
): string => {
  const scale = original.width / width
  const shrunk =
    scale === 1
      ? ""
      : `, shrunk from ${original.width}x${original.height}: multiply what you measure in it by ${scale.toFixed(3)}`
  return `${mediaType}, ${width}x${height}, ${bytes} bytes${shrunk}`
}

/** The model that was asked last is the one that is answered. */
const visible = (session: Session | undefined): Effect.Effect<void, ToolError> => {
  const header = session?.conversation.header
  return header === undefined || showsImages(header)
    ? Effect.void
    : Effect.fail(
        new ToolError({
          code: "UNSUPPORTED_MODALITY",
          message: `the model ${header.config.model} takes no images; ask the user what is in it, or look at it with a command`
        })
      )
}

const mediaTypeOf = ({ displayPath }: FsTarget): Effect.Effect<string, ToolError> => {
  const ending = extname(displayPath).toLowerCase()
  const known = mediaTypes[ending]
  if (known !== undefined) return Effect.succeed(known)
  const how = /^\.(hei[cf]|avif)$/.test(ending)
    ? "; convert it first: sips -s format jpeg IN --out OUT.jpg on macOS, heif-convert IN OUT.jpg or magick IN OUT.jpg elsewhere"
    : "; text files are for read"
  return new ToolError({
    code: "UNSUPPORTED_IMAGE_TYPE",
    message: `${displayPath} is not named like an image that can be shown (${Object.keys(mediaTypes).join(", ")})${how}`
  })
}

const unread = (
  { cause, code, message }: FsError,
  fs: Fs["Type"],
  target: FsTarget
): Effect.Effect<never, FsError | Pick<AttachmentError, "code" | "message">> => {
  if (code === "FS_NOT_FOUND") {
    return Effect.flatMap(NameHint.of(fs, target), (hint) => new FsError({ code, message: message + hint, cause }))
  }
  return code === "FS_TOO_LARGE"
    ? Effect.fail({ code: "IMAGE_TOO_LARGE", message: `${message}; shrink the image first` })
    : new FsError({ code, message, cause })
}
