/**
 * A scripted batch: every task an agent of its own, four at a time; one failure does not stop the rest.
 */
import * as Batch from "@dsh/batch/Batch"
import type { BatchTask } from "@dsh/batch/BatchTask"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as OwnModel from "./own-model.ts"

const world = AgentLoop.layer.pipe(Layer.provideMerge(OwnModel.layer), Layer.provideMerge(Definitions.layer))

const options: Batch.Options = {
  cwd: process.cwd(),
  model: { provider: "parrot", model: "polly" },
  concurrency: 4,
  retry: 1
}

/** The results, in the order in which they are done. */
export const main = (tasks: ReadonlyArray<BatchTask>) => Batch.run(tasks, options).pipe(Stream.provideLayer(world))
