import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Every file of a directory with its bytes: what a refused database must leave as it was. */
export async function filesIn(directory: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(directory)).sort()
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)))
}

/** The names of the files in which the text stands. */
export async function filesHolding(directory: string, text: string): Promise<string[]> {
  const holding: string[] = []
  for (const [name, bytes] of await filesIn(directory)) {
    if (bytes.includes(text)) holding.push(name)
  }
  return holding
}
