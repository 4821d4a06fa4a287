import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const inspan = fileURLToPath(new URL('../bin/inspan.js', import.meta.url))

/** Prints more than there is room for. */
const PROGRAM = `#!${process.execPath}
if (process.argv.includes('--version')) { console.log('codex-cli 0.169.0'); process.exit(0) }
const say = (record) => console.log(JSON.stringify(record))
say({ type: 'thread.started', thread_id: 'native-1' })
say({ type: 'item.completed', item: { id: 'a', type: 'agent_message', text: 'x'.repeat(2_000_000) } })
say({ type: 'turn.completed' })
`

test('inspan run explains why it could not continue when what was said could not be kept', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-full-'))
  t.after(() => rm(folder, { recursive: true, maxRetries: 5 }))
  await writeFile(join(folder, 'codex'), PROGRAM, { mode: 0o755 })
  // No file may grow beyond a megabyte. Writing more fails instead of killing the process.
  const limited = `trap '' XFSZ; ulimit -f 2000; exec "$@"`
  const run = ['run', '--harness', 'codex', '--json', 'Go']
  const { status, stderr } = spawnSync('sh', ['-c', limited, 'sh', process.execPath, inspan, ...run], {
    cwd: folder,
    env: { ...process.env, INSPAN_HOME: folder, INSPAN_CODEX_BIN: join(folder, 'codex'), CODEX_API_KEY: 'k' },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  assert.equal(status, 1)
  assert.match(stderr, /^inspan run: Database .*inspan\.db .*(?:no room left|could not be read or written)/m)
  assert.doesNotMatch(stderr, /\n\s+at /)
})

test('inspan run whose output cannot be written continues to its end, and reports it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-full-'))
  t.after(() => rm(folder, { recursive: true, maxRetries: 5 }))
  // /dev/full acts as a full disk.
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const { status, stderr } = spawnSync(process.execPath, [inspan, 'run', 'What is here?'], {
    cwd: folder,
    env: { ...process.env, INSPAN_HOME: folder },
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  const [first, , kept] = stderr.split('\n')
  assert.match(first ?? '', /^inspan: The output could not be written \(ENOSPC.*\)\. The rest of it is left out\.$/)
  assert.match(kept ?? '', /^Kept as thread/)
  assert.equal(status, 1)
})
