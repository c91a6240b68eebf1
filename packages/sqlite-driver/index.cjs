// `@effect/sql-sqlite-node` asks for better-sqlite3, which compiles itself wherever no prebuilt binary can be fetched. This is the part
// of its API that is asked for, over Node's own SQLite where that is stable (24 and later), else over a package that brings its binaries
// along and has the same API.
"use strict"

const load = () =>
  Number(process.versions.node.split(".")[0]) >= 24
    ? process.getBuiltinModule("node:sqlite")
    : require("@photostructure/sqlite")

const { DatabaseSync, backup } = load()

class Statement {
  #inner
  #reader
  constructor(inner) {
    this.#inner = inner
  }
  get reader() {
    return (this.#reader ??= this.#inner.columns().length > 0)
  }
  safeIntegers(on = true) {
    this.#inner.setReadBigInts(on)
    return this
  }
  raw(on = true) {
    this.#inner.setReturnArrays(on)
    return this
  }
  all(...params) {
    return this.#inner.all(...params)
  }
  get(...params) {
    return this.#inner.get(...params)
  }
  iterate(...params) {
    return this.#inner.iterate(...params)
  }
  run(...params) {
    return this.#inner.run(...params)
  }
}

module.exports = class Database {
  #inner
  constructor(filename, { readonly = false, timeout = 5000 } = {}) {
    this.#inner = new DatabaseSync(filename, { readOnly: readonly, timeout, allowExtension: false })
  }
  prepare(sql) {
    return new Statement(this.#inner.prepare(sql))
  }
  exec(sql) {
    this.#inner.exec(sql)
    return this
  }
  pragma(source) {
    return this.#inner.prepare(`PRAGMA ${source}`).all()
  }
  close() {
    this.#inner.close()
  }
  loadExtension(path) {
    this.#inner.loadExtension(path)
  }
  serialize() {
    throw new Error("a database cannot be serialised with this driver; back it up to a file")
  }
  async backup(destination) {
    return { totalPages: await backup(this.#inner, destination), remainingPages: 0 }
  }
}
