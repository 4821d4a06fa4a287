/** How long it takes until the chat shows itself in a real terminal, relative to starting Node with nothing to do. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compare, report } from '@inspan/testing'

const inspan = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'inspan-paint-'))

/** Gives a program a terminal of its own. */
const SCRIPT = '/usr/bin/script'

async function untilShown(command: string, shown: string): Promise<number> {
  const child = spawn(SCRIPT, ['-qfec', command, '/dev/null'], {
    env: { ...process.env, INSPAN_HOME: home, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const closed = once(child, 'close')
  let out = ''
  for await (const chunk of child.stdout) {
    out += String(chunk)
    if (out.includes(shown)) break
  }
  child.kill('SIGKILL')
  child.stdin.destroy()
  await closed
  return 1
}

const node = `'${process.execPath}'`
report(
  await compare({
    name: 'inspan chat: first paint, relative to the start of Node',
    limit: 5,
    rounds: 7,
    floor: () => untilShown(`${node} -e 'console.log("ready")'`, 'ready'),
    ours: () => untilShown(`${node} '${inspan}' chat`, 'Starting'),
  }),
)
rmSync(home, { recursive: true, force: true })
