/**
 * Tools for programs of the model. A module of its own, for most runs load none of it.
 */
import * as CodeMode from "@dsh/code-mode/CodeMode"
import * as CodeRuntimeQuickJs from "@dsh/code-mode/CodeRuntimeQuickJs"
import type { Mode } from "@dsh/code-mode/ToolsMode"
import * as Layer from "effect/Layer"

export const layer = (mode: Mode) => Layer.provide(CodeMode.layer({ mode }), CodeRuntimeQuickJs.layer())
