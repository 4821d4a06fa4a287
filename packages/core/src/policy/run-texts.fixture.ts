import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** What the allowed texts of one batch did. */
export interface Deeds {
  /** A program ran that no rule allows. */
  readonly ranEvil: boolean
  /** Files were made, changed or removed. */
  readonly wrote: boolean
  readonly showedSecret: boolean
  readonly changedSecret: boolean
  readonly isFinished: boolean
}

const SECRET = 'cb5e7f'
const LINKED =
  'echo printf cat ls sort uniq wc head tail grep cut tr sed awk find true test basename nice timeout env xargs tee ' +
  'tar shuf iconv nohup sleep jq sh bash nl comm join od stat du seq base64 tac paste fold fmt tsort strings nm xxd ' +
  'column pr cmp diff'
/** Where tests run as root, the shells run as nobody: a text must not reach beyond its folder, whatever it says. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const BUBBLEWRAP = '/usr/bin/bwrap'
const CONTAINER = ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--dev', '/dev']
/** With bubblewrap, only the folder of the batch can be written, and nothing outlives its batch. */
const HAS_CONTAINER = spawnSync(BUBBLEWRAP, [...CONTAINER, '/bin/true'], NOBODY).status === 0
/** A loop without an end is ended by its limit of processor time, unless it only waits. */
const PATIENCE_MS = 60_000
const FINISHED = 'all texts have run'
const OTHER_FOLDER = /(?:^|[^\w.~{},*?[\]"$])\/(?!dev\/null(?![\w.[\]{}*?]))|\.\.|~[^/\s"'`;&|)]|\/\*\//

/** True for a text that names nothing outside the folder it runs in. */
export function staysInside(text: string): boolean {
  return !OTHER_FOLDER.test(text)
}

/**
 * Runs each text in a subshell of one shell: forking is cheaper than starting, and `eval` reads as `-c` does. `cat` ends
 * when no background process holds its input any more.
 */
function driver(texts: readonly string[]): string {
  const runs = texts.map((text) => `( eval ${quote(` ${text}`)} ) < /dev/null\n`)
  return `ulimit -f 2000; ulimit -t 1\n{\n${runs.join('')}echo '${FINISHED}'\n} 2>&1 | cat > "$OUTPUT"`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Makes the folder with stand-ins for programs: `fine` does nothing, `evil` and whatever lies in `d` leave a mark. */
export function makePrograms(root: string): void {
  const bin = join(root, 'bin')
  mkdirSync(bin, { recursive: true })
  for (const name of LINKED.split(' ')) {
    const real = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path))
    if (real !== undefined) symlinkSync(real, join(bin, name))
  }
  for (const name of ['fine', 'date']) symlinkSync('/bin/true', join(bin, name))
  writeFileSync(join(bin, 'evil'), '#!/bin/sh\necho evil >> "$EVIL_LOG"\n', { mode: 0o755 })
}

function fill(work: string, content: string): void {
  mkdirSync(join(work, 'd'), { recursive: true })
  // One of them is an option, as an argument.
  for (const name of ['a', 'b', 'x', 'x.t', '-of.t', 'd/a', 'd/b']) writeFileSync(join(work, name), content)
  for (const name of ['fine', 'ls', 'cat', 'echo']) {
    writeFileSync(join(work, 'd', name), '#!/bin/sh\necho evil >> "$EVIL_LOG"\n', { mode: 0o755 })
  }
  writeFileSync(join(work, 'secret'), `${SECRET}\n`)
  writeFileSync(join(work, 't.tar'), '')
}

function stateOf(folder: string, name = ''): string {
  return readdirSync(join(folder, name), { withFileTypes: true })
    .map((entry) => {
      const path = join(name, entry.name)
      if (entry.isDirectory()) return `${path}/${stateOf(folder, path)}`
      return entry.isFile() ? `${path}=${readFileSync(join(folder, path), 'utf8')}` : path
    })
    .toSorted()
    .join('\n')
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o777)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) openToAll(join(folder, entry.name))
    else if (entry.isFile()) chmodSync(join(folder, entry.name), 0o777)
  }
}

let runs = 0

/** `content`: what the files of the folder contain, should a text run one of them. */
export async function runTexts(root: string, shell: string, texts: readonly string[], content: string): Promise<Deeds> {
  runs += 1
  const base = join(root, `run-${runs}`)
  const [work, log, output] = ['work', 'log', 'output'].map((name) => join(base, name))
  if (work === undefined || log === undefined || output === undefined) throw new Error('paths')
  fill(work, content)
  const before = stateOf(work)
  openToAll(base)
  await drive(base, work, texts, log, output, shell)
  const after = stateOf(work)
  const secret = existsSync(join(work, 'secret')) ? readFileSync(join(work, 'secret'), 'utf8') : ''
  const printed = existsSync(output) ? readFileSync(output, 'utf8') : ''
  const deeds: Deeds = {
    ranEvil: existsSync(log),
    wrote: after !== before,
    showedSecret: printed.includes(SECRET),
    changedSecret: secret !== `${SECRET}\n`,
    isFinished: printed.includes(FINISHED),
  }
  rmSync(base, { recursive: true, force: true, maxRetries: 5 })
  return deeds
}

function drive(
  base: string,
  work: string,
  texts: readonly string[],
  log: string,
  output: string,
  shell: string,
): Promise<void> {
  const command = [shell, '-c', driver(texts)]
  if (HAS_CONTAINER) command.unshift(BUBBLEWRAP, ...CONTAINER, '--bind', base, base, '--chdir', work)
  const [program = shell, ...args] = command
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: work,
      ...NOBODY,
      detached: true,
      stdio: 'ignore',
      env: { PATH: join(base, '..', 'bin'), HOME: work, EVIL_LOG: log, OUTPUT: output },
    })
    const end = (): void => {
      try {
        // What a text left in the background belongs to its group, too.
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // Nothing was left.
      }
    }
    const timer = setTimeout(end, PATIENCE_MS)
    child.once('error', reject)
    child.once('close', () => {
      clearTimeout(timer)
      end()
      resolve()
    })
  })
}
