/**
 * The models of the official API as far as they are known.
 */
import type { CatalogEntry } from "../ModelCatalog.ts"

export const models: ReadonlyArray<CatalogEntry> = [
  { id: "deepseek-v4-flash", name: "DeepSeek-V4-Flash" },
  { id: "deepseek-v4-pro", name: "DeepSeek-V4-Pro" }
]
