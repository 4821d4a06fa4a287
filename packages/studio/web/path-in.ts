import type { JsonObject } from '@inspan/protocol'

const NAMES = ['path', 'file_path', 'filePath', 'file']

/** Returns the path that a call is about, as tools of different agents name it. */
export function pathIn(input: JsonObject): string | undefined {
  return NAMES.map((name) => input[name]).find((value) => typeof value === 'string')
}
