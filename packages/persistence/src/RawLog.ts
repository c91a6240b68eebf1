/**
 * A stored log as it stands there, whatever it says: for those who look at damage, and for copies that are the same to the byte.
 */
export interface RawLog {
  /** The artifact. */
  readonly path?: string
  /** Without what ends a record. */
  readonly header: Uint8Array
  /** Every complete record behind the header, in order. */
  readonly records: Iterable<RawRecord>
  /** What is behind the last complete record. */
  readonly rest: Uint8Array
}

export interface RawRecord {
  /** Where it stands, in words like "line 7". */
  readonly place: string
  readonly bytes: Uint8Array
}
