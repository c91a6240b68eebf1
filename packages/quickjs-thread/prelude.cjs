// What a program finds in its world, and how its values get out. The text of this function is run inside the engine, before the
// program; it holds on to what it needs of the language, because the program may change all of it. Whatever the program breaks here is
// its own: only strings and numbers leave, and they are checked outside.
"use strict"

module.exports = (host, namespaces) => {
  "use strict"
  const { isArray } = Array
  const { parse, stringify } = JSON
  const { create, defineProperty, freeze, getPrototypeOf, keys, prototype: plain } = Object
  const { isFinite } = Number
  const [Failure, List, Table, Future, text] = [Error, Set, Map, Promise, String]
  const maxDepth = 500
  const waiting = create(null)

  // ---- values to JSON, without loss ----

  const refuse = (place, why) => {
    let path = ""
    for (let at = place; at !== undefined; at = at.above) path = at.key + path
    throw new Failure(`$${path} ${why}`)
  }

  const nameOf = (value) => {
    try {
      return `an instance of ${getPrototypeOf(value).constructor.name}`
    } catch {
      return "an instance of a class"
    }
  }

  const json = (value, key, above) => {
    const here = { key, above, value, depth: above === undefined ? 0 : above.depth + 1 }
    switch (typeof value) {
      case "string":
        return stringify(value)
      case "boolean":
        return value ? "true" : "false"
      case "number":
        return isFinite(value) ? stringify(value) : refuse(here, `is ${value}`)
      case "object":
        break
      default:
        return refuse(here, value === undefined ? "is undefined" : `is a ${typeof value}`)
    }
    if (value === null) return "null"
    if (here.depth > maxDepth) refuse(undefined, `is nested deeper than ${maxDepth} levels`)
    for (let at = above; at !== undefined; at = at.above) if (at.value === value) refuse(here, "is a cycle")
    let out = ""
    if (isArray(value)) {
      const { length } = value
      for (let i = 0; i < length; i++) out += (i === 0 ? "" : ",") + json(value[i], `[${i}]`, here)
      return `[${out}]`
    }
    const prototype = getPrototypeOf(value)
    if (prototype !== null && prototype !== plain) refuse(here, `is ${nameOf(value)}, not plain data`)
    const names = keys(value)
    for (let i = 0; i < names.length; i++) {
      const name = names[i]
      const member = value[name]
      // What TypeScript calls optional may be written as undefined.
      if (member !== undefined) out += `${out === "" ? "" : ","}${stringify(name)}:${json(member, `.${name}`, here)}`
    }
    return `{${out}}`
  }

  // ---- anything as text ----

  const show = (value) => {
    try {
      if (typeof value === "string") return value
      if (value instanceof Failure) return describe(value)
      if (value instanceof List || value instanceof Table) return stringify([...value])
      const shown = typeof value === "object" ? stringify(value) : undefined
      return shown === undefined ? text(value) : shown
    } catch {
      try {
        return text(value)
      } catch {
        return "[a value that cannot be shown]"
      }
    }
  }

  const describe = (error) => {
    try {
      if (!(error instanceof Failure)) return `it threw ${show(error)}`
      const { message, name, stack } = error
      const lines = typeof stack === "string" ? stack.split("\n") : []
      const places = lines.filter((line) => line.includes(host.filename)).slice(0, 5)
      return [`${name}: ${message}`, ...places].join("\n")
    } catch {
      return "it threw a value that cannot be shown"
    }
  }

  // ---- the globals ----

  const console = create(null)
  for (const level of ["log", "info", "warn", "error", "debug"]) {
    console[level] = (...values) => {
      let line = ""
      for (let i = 0; i < values.length; i++) line += (i === 0 ? "" : " ") + show(values[i])
      host.log(line)
    }
  }
  defineProperty(globalThis, "console", { value: console, writable: true, configurable: true })

  const call = (CallError, global, name, args) =>
    new Future((resolve, reject) => {
      const fail = (message) => reject(new CallError(name, message))
      let encoded
      try {
        encoded = json(args === undefined ? {} : args, "", undefined)
      } catch (error) {
        fail(`the arguments are not plain JSON: ${error.message}`)
        return
      }
      const id = host.call(global, name, encoded)
      if (typeof id === "string") fail(id)
      else waiting[id] = { resolve, fail }
    })

  for (const { errorClass, errorMember, global, names } of namespaces) {
    const CallError = class extends Failure {
      constructor(member, message) {
        super(message)
        defineProperty(this, "name", { value: errorClass, configurable: true, writable: true })
        defineProperty(this, errorMember, { value: member, enumerable: true })
      }
    }
    defineProperty(CallError, "name", { value: errorClass })
    defineProperty(globalThis, errorClass, { value: CallError })
    const functions = create(null)
    for (const name of names) {
      defineProperty(functions, name, { value: (args) => call(CallError, global, name, args), enumerable: true })
    }
    defineProperty(globalThis, global, { value: freeze(functions) })
  }

  // ---- what the outside calls ----

  return {
    settle: (id, isOk, answer) => {
      const { fail, resolve } = waiting[id]
      delete waiting[id]
      if (!isOk) return fail(answer)
      try {
        return resolve(parse(answer))
      } catch {
        return fail("its value is too large for the memory of this program")
      }
    },
    run: async (program) => {
      let value
      try {
        value = await program()
      } catch (error) {
        host.failed("exception", describe(error))
        return
      }
      try {
        host.done(value === undefined ? null : json(value, "", undefined))
      } catch (error) {
        host.failed("invalid-output", `what it returned is not plain JSON: ${describe(error)}`)
      }
    }
  }
}
