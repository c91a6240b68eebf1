/**
 * The name of the folder of a task: its id, as far as that can be a name, and what tells it from others that look alike.
 */
import { createHash } from "node:crypto"

export const folderOf = (id: string): string => {
  const readable = id
    .replaceAll(/[^\w.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 60)
  return readable === id ? id : `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}`
}
