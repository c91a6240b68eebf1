import { suite } from "./SubprocessLocal.suite.ts"

suite("in a worker thread")
