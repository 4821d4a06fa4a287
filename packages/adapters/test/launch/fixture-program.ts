import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DriverBehaviour } from '@inspan/testing/contracts'
import { readFixture } from '../support.ts'

/** A recorded answer and a recorded failure of each CLI in print mode. */
const RUNS: Readonly<Record<string, { readonly answers: string; readonly fails: string; readonly version: string }>> = {
  'claude-code': { answers: 'retry-then-success', fails: 'provider-401', version: '2.1.326 (Claude Code)' },
  codex: { answers: 'text', fails: 'provider-401', version: 'codex-cli 0.169.0' },
  cline: { answers: 'text', fails: 'provider-401', version: '3.0.65' },
  goose: { answers: 'thinking-text-and-call', fails: 'provider-401', version: '1.52.0' },
  'kilo-code': { answers: 'plain-answer', fails: 'provider-refuses', version: '7.7.9' },
  opencode: { answers: 'plain-answer', fails: 'provider-refuses', version: '1.18.34' },
  pi: { answers: 'plain-answer', fails: 'provider-refuses', version: '1.5.0' },
  antigravity: { answers: 'handmade-plain-answer', fails: 'handmade-not-signed-in', version: '1.0.0' },
}

/** A real program that prints what the CLI printed once: all of it, or its beginning without ever ending. */
export async function fixtureProgram(dir: string, id: string, behaviour: DriverBehaviour): Promise<string> {
  const runs = RUNS[id]
  if (runs === undefined) throw new Error(`There is no recorded run of ${id}.`)
  const { lines, stderr, end } = readFixture(id, behaviour === 'fails' ? runs.fails : runs.answers)
  const told = { lines, stderr, code: end.exitCode ?? 0, hangs: behaviour === 'hangs' }
  const bin = join(dir, `${id}.mjs`)
  await writeFile(
    bin,
    `#!${process.execPath}
const told = ${JSON.stringify(told)}
if (process.argv.includes('--version')) { console.log(${JSON.stringify(runs.version)}); process.exit(0) }
const { existsSync, readFileSync, writeFileSync } = await import('node:fs')
const [command] = process.argv.slice(2)
const named = process.argv.indexOf('--name')
if (command === 'session') {
  const sessions = existsSync('session-name') ? [{ id: '20261115_1', name: readFileSync('session-name', 'utf8') }] : []
  console.log(JSON.stringify(sessions))
  process.exit(0)
}
if (command === 'serve') {
  const { createServer } = await import('node:http')
  // It knows no session.
  const server = createServer((_request, response) => response.writeHead(404).end())
  server.listen(0, '127.0.0.1', () => console.log('listening on http://127.0.0.1:' + server.address().port))
  await new Promise(() => {})
}
if (named !== -1) writeFileSync('session-name', process.argv[named + 1])
const lines = told.hangs ? told.lines.slice(0, -1) : told.lines
process.stdout.write(lines.map((line) => line + '\\n').join(''))
process.stderr.write(told.stderr.map((line) => line + '\\n').join(''))
if (told.hangs) setInterval(() => {}, 1000)
else process.exitCode = told.code
`,
  )
  await chmod(bin, 0o755)
  return bin
}
