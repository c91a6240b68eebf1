// Runs before every test file. `layer(...)` of @effect/vitest puts its runtime into the one `it` that all files of a worker share, so
// a file would run its tests in the world of the file before it.
import { it, makeMethods } from "@effect/vitest"

makeMethods(it)
