/**
 * The models an adapter knows, and what it assumes of any other. A catalog is advice: it never keeps a model from being called.
 */
import type { ModelInfo } from "./LlmAdapter.ts"

export interface CatalogEntry {
  readonly id: string
  /** Default: the id. */
  readonly name?: string
  readonly description?: string
  /** In tokens. Default: the adapter's. */
  readonly contextWindow?: number
  /** Output ceiling in tokens. Default: the adapter's. */
  readonly maxTokens?: number
  /** Default: text only. */
  readonly inputModalities?: ReadonlyArray<"text" | "image">
}

export interface Defaults {
  readonly provider: string
  /** In tokens. */
  readonly contextWindow: number
  /** Output ceiling in tokens. Absent: the provider's own. */
  readonly maxTokens?: number
  readonly reasoning?: NonNullable<ModelInfo["reasoning"]>
}

/** A catalogued model, or one the catalog does not know: new models appear before new versions of a catalog. */
export const resolve = (catalog: ReadonlyArray<CatalogEntry>, id: string, defaults: Defaults): ModelInfo =>
  describe(catalog.find((known) => known.id === id) ?? { id }, defaults)

export const describe = (
  entry: CatalogEntry,
  { contextWindow, maxTokens, provider, reasoning }: Defaults
): ModelInfo => {
  const ceiling = entry.maxTokens ?? maxTokens
  return {
    provider,
    id: entry.id,
    name: entry.name ?? entry.id,
    ...(entry.description !== undefined && { description: entry.description }),
    contextWindow: entry.contextWindow ?? contextWindow,
    ...(ceiling !== undefined && { defaultMaxTokens: ceiling }),
    inputModalities: entry.inputModalities ?? ["text"],
    ...(reasoning !== undefined && { reasoning })
  }
}

/** What a profile says of a model that takes images. */
export const images = ({ inputModalities = [] }: ModelInfo): { readonly images?: "send" } =>
  inputModalities.includes("image") ? { images: "send" } : {}
