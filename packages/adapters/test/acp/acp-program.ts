import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AcpStandInSetup } from './acp-stand-in.ts'

/** A real program that speaks the Agent Client Protocol, and whose body says what it does in a turn. */
export async function acpProgram(dir: string, body: string, setup: AcpStandInSetup = {}): Promise<string> {
  const bin = join(dir, 'agent.mjs')
  const module = pathToFileURL(join(import.meta.dirname, 'acp-stand-in.ts')).href
  await writeFile(
    bin,
    `#!${process.execPath}
const { serve } = await import(${JSON.stringify(module)})
await serve(${JSON.stringify(setup)}, async (t) => {
${body}
})
`,
  )
  await chmod(bin, 0o755)
  return bin
}
