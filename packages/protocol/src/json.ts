/** Any JSON value. Everything that is stored or sent consists of these. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export type JsonObject = { readonly [key: string]: JsonValue }
