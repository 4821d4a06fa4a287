// Plain JavaScript for whatever Node is on the machine, even one that is too old, which must still print an error.
// Installs what is missing, then continues with the project's own Node. Everything after this file is TypeScript.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The npm of an older Node cannot read the lock file, or cannot install what it lists.
if (Number(process.versions.node.split('.')[0]) < 18) {
  console.error('Node.js 20 or newer is needed to begin with, and this is ' + process.version + '.')
  console.error('Install one from https://nodejs.org and run the command again: the project brings its own after that.')
  process.exit(1)
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [task, ...args] = process.argv.slice(2)

const TASKS = {
  start: ['packages/inspan/bin/inspan.js', 'serve', '--code'],
  demo: ['packages/inspan/bin/inspan.js', 'run', '--demo'],
  test: ['scripts/test.ts'],
  'test:real': ['scripts/test.ts', '--suite', 'real'],
  'test:machines': ['scripts/test.ts', '--suite', 'machines'],
  bench: ['scripts/bench.ts'],
  'bench:peers': ['scripts/bench-peers.ts'],
  compare: ['scripts/compare.ts'],
}

if (!Object.keys(TASKS).includes(task)) {
  console.error(`Unknown task ${JSON.stringify(task)}. Known: ${Object.keys(TASKS).join(', ')}.`)
  process.exit(2)
}

if (!isInstalled()) {
  console.error('Installing what is missing (npm ci) …')
  const install = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    // Progress goes to stderr, because standard output belongs to the task.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (install.status !== 0) {
    console.error('npm ci failed: see its output above. Check the network and run the command again.')
    process.exit(install.status || 1)
  }
}

// Ctrl-C is left to the program, which may have something to finish. This process ends when it does.
process.on('SIGINT', () => undefined)

const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
const bin = join(root, 'node_modules', '.bin')
const separator = process.platform === 'win32' ? ';' : ':'
const run = spawnSync(
  node,
  [...TASKS[task].slice(0, 1).map((file) => join(root, file)), ...TASKS[task].slice(1), ...args],
  {
    cwd: task === 'start' || task === 'demo' ? process.cwd() : root,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${separator}${process.env.PATH || ''}` },
  },
)
if (run.error) throw run.error
if (run.signal) {
  process.removeAllListeners('SIGINT')
  process.kill(process.pid, run.signal)
}
process.exit(run.status === null ? 1 : run.status)

// npm writes this file at the end of an install, so an interrupted install or a changed lock file installs again.
function isInstalled() {
  const marker = join(root, 'node_modules', '.package-lock.json')
  const lock = join(root, 'package-lock.json')
  if (!existsSync(marker) || !existsSync(join(root, 'node_modules', 'node', 'bin'))) return false
  if (statSync(marker).mtimeMs >= statSync(lock).mtimeMs) return true
  return sameVersions(JSON.parse(readFileSync(lock, 'utf8')), JSON.parse(readFileSync(marker, 'utf8')))
}

// A fresh checkout may make the lock file newer without changing it.
function sameVersions(wanted, installed) {
  return (
    Object.entries(installed.packages || {}).every(([path, entry]) => {
      const want = (wanted.packages || {})[path]
      return want !== undefined && want.version === entry.version
    }) &&
    Object.entries(wanted.packages || {}).every(([path, entry]) => {
      return (
        path === '' ||
        entry.link ||
        entry.optional ||
        entry.devOptional ||
        !path.startsWith('node_modules/') ||
        (installed.packages || {})[path] !== undefined
      )
    })
  )
}
