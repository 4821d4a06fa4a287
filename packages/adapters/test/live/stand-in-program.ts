import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const VERSIONS = { claude: '2.1.326 (Claude Code)', codex: 'codex-cli 0.169.0', pi: '1.5.0' }

/** A real program of a few lines: it serves a protocol, and its body says what it does in a turn. */
export async function standInProgram(
  dir: string,
  serves: keyof typeof VERSIONS,
  body: string,
  setup: object = {},
): Promise<string> {
  const bin = join(dir, `${serves}.mjs`)
  const module = pathToFileURL(join(import.meta.dirname, `${serves}-stand-in.ts`)).href
  await writeFile(
    bin,
    `#!${process.execPath}
if (process.argv.includes('--version')) { console.log(${JSON.stringify(VERSIONS[serves])}); process.exit(0) }
const { serve } = await import(${JSON.stringify(module)})
await serve(async (t) => {
${body}
}, ${JSON.stringify(setup)})
`,
  )
  await chmod(bin, 0o755)
  return bin
}

/** What the stand-ins of this directory were started with and told, in order. */
export async function diaryOf(dir: string, name: 'argv' | 'heard'): Promise<readonly unknown[]> {
  const text = await readFile(join(dir, `${name}.jsonl`), 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
}
