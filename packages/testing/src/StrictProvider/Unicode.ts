/**
 * Strings that cannot be encoded as UTF-8.
 */
import * as Text from "@dsh/kernel/Text"
import type { Report } from "./Report.ts"

/** Reports each string of `body`, keys included, that holds half a surrogate pair. */
export const check = (body: unknown, report: Report): void => {
  const stack: Array<readonly [path: string, value: unknown]> = [["$", body]]
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const [path, value] = entry
    if (typeof value === "string") {
      if (Text.wellFormed(value) !== value) {
        report.add("lone-surrogate", path, "the string holds a lone surrogate and is not valid Unicode")
      }
    } else if (Array.isArray(value)) {
      for (let i = value.length - 1; i >= 0; i--) stack.push([`${path}[${i}]`, value[i]])
    } else if (typeof value === "object" && value !== null) {
      for (const [key, child] of Object.entries(value).reverse()) {
        if (Text.wellFormed(key) !== key) {
          report.add("lone-surrogate", path, "a key holds a lone surrogate and is not valid Unicode")
        }
        stack.push([`${path}.${key}`, child])
      }
    }
  }
}
