import type { Parser } from "web-tree-sitter"

/** A parser of bash, made anew. */
export const load: () => Promise<Parser>
