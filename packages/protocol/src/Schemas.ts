/**
 * The vocabulary as Effect Schemas: the published form of the log format, and a second opinion for whoever verifies a log.
 *
 * Every schema is declared with the type the rest of the program uses, so a difference between the two does not compile. Only readers
 * load this module; writing a log decodes nothing, and loading one goes through `LogCheck`.
 */
export { CallId, JsonObject, JsonValue, MessageId, SessionId } from "./Schemas/Values.ts"
export * from "./Schemas/Blocks.ts"
export * from "./Schemas/Messages.ts"
export * from "./Schemas/Chunks.ts"
export * from "./Schemas/Requests.ts"
export * from "./Schemas/Events.ts"
export * from "./Schemas/Header.ts"
