import { Readable } from 'node:stream'
import { main } from './main.ts'

export interface CapturedRun {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command in this process, without a terminal or input, and returns its exit code and output. */
export async function capturedMain(
  args: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<CapturedRun> {
  let out = ''
  let err = ''
  const code = await main(args, {
    out: (text) => (out += `${text}\n`),
    write: (text) => (out += text),
    err: (text) => (err += `${text}\n`),
    input: Readable.from([]),
    isTty: false,
    ...place,
  })
  return { code, out, err }
}
