import { main } from './main.ts'

// Loaded before the user changes: another one may not be allowed to read the program.
await import('@inspan/core')
await import('@inspan/core/engine')
await import('./commands/threads.ts')
await import('./commands/replay.ts')
if (process.getuid?.() === 0) process.setuid?.(65_534)
const [, , ...args] = process.argv
process.exitCode = await main(args, {
  out: (text) => console.log(text),
  write: (text) => process.stdout.write(text),
  err: (text) => console.error(text),
  input: process.stdin,
  isTty: false,
  cwd: process.cwd(),
  env: {},
})
