/**
 * The models of the official API as far as they are known, and what is assumed of any other.
 */
import type { ModelInfo } from "../LlmAdapter.ts"

export interface CatalogEntry {
  readonly id: string
  /** Default: the id. */
  readonly name?: string
  readonly description?: string
  /** In tokens. Default: the adapter's `defaultContextWindow`. */
  readonly contextWindow?: number
  /** Output ceiling in tokens. Default: the adapter's `maxTokens`. */
  readonly maxTokens?: number
  /** Default: text only. */
  readonly inputModalities?: ReadonlyArray<"text" | "image">
}

export const models: ReadonlyArray<CatalogEntry> = [
  { id: "deepseek-v4-flash", name: "DeepSeek-V4-Flash" },
  { id: "deepseek-v4-pro", name: "DeepSeek-V4-Pro" }
]

export interface Defaults {
  readonly provider: string
  readonly contextWindow: number
  readonly maxTokens: number
  readonly efforts: ReadonlyArray<string>
  readonly defaultEffort: string
}

/** A catalogued model, or one the catalog does not know: new models appear before new versions of this file. */
export const resolve = (catalog: ReadonlyArray<CatalogEntry>, id: string, defaults: Defaults): ModelInfo => {
  const entry: CatalogEntry = catalog.find((known) => known.id === id) ?? { id }
  return {
    provider: defaults.provider,
    id,
    name: entry.name ?? id,
    ...(entry.description !== undefined && { description: entry.description }),
    contextWindow: entry.contextWindow ?? defaults.contextWindow,
    defaultMaxTokens: entry.maxTokens ?? defaults.maxTokens,
    inputModalities: entry.inputModalities ?? ["text"],
    reasoning: { efforts: defaults.efforts, defaultEffort: defaults.defaultEffort }
  }
}
