import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Terminal } from './command.ts'
import type { main as Main } from './main.ts'

const [, , ...args] = process.argv
/** The tests of packed packages name the command that was installed. */
const bin = process.env['INSPAN_TEST_BIN']
const program = bin === undefined ? './main.ts' : new URL('../dist/main.js', pathToFileURL(bin)).href
const { main } = (await import(program)) as { readonly main: typeof Main }
const silent: Terminal = {
  out: () => undefined,
  write: () => undefined,
  err: () => undefined,
  input: process.stdin,
  isTty: false,
  cwd: process.cwd(),
  env: {},
}
if (process.getuid?.() === 0) {
  // Another user may not be allowed to read the program: the same command, on a copy, loads all of it before.
  const folder = await mkdtemp(join(tmpdir(), 'inspan-loaded-'))
  const db = args.at(-1) ?? ''
  await cp(db, join(folder, 'copy.db'))
  await main([...args.slice(0, -1), join(folder, 'copy.db')], silent)
  await rm(folder, { recursive: true })
  process.setuid?.(65_534)
}
process.exitCode = await main(args, {
  ...silent,
  out: (text) => console.log(text),
  write: (text) => process.stdout.write(text),
  err: (text) => console.error(text),
})
