/** What JSON can carry. Everything that is stored or sent is made of this and nothing else. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export type JsonObject = { readonly [key: string]: JsonValue }
