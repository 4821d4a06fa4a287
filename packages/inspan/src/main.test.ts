import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { COMMANDS } from './command-list.ts'
import type { Terminal } from './command.ts'
import { main } from './main.ts'

const inspanFile = fileURLToPath(new URL('../bin/inspan.js', import.meta.url))

/** Starts a program that may not raise the limit that marks use; undefined where that is not possible. */
const unmarking = [
  ['prlimit', '--locks=0:0', '--'],
  ['setpriv', '--bounding-set=-sys_resource', '--', 'prlimit', '--locks=0:0', '--'],
].find(([program = '', ...args]) => {
  const raised = spawnSync(program, [...args, 'sh', '-c', 'true && ! prlimit --locks=1:1 -- true'], { stdio: 'ignore' })
  return raised.status === 0
})

let folder = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan-command-'))
  await writeFile(join(folder, 'notes.txt'), '')
})
after(() => rm(folder, { recursive: true }))

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function inspan(...args: string[]): Promise<Ran> {
  return inspanWith('', ...args)
}

async function inspanWith(input: string, ...args: string[]): Promise<Ran> {
  return inspanOn({ input, env: {} }, args)
}

async function inspanIn(env: Terminal['env'], ...args: string[]): Promise<Ran> {
  return inspanOn({ input: '', env }, args)
}

async function inspanOn(given: { input: string; env: Terminal['env'] }, args: readonly string[]): Promise<Ran> {
  let out = ''
  let err = ''
  const terminal: Terminal = {
    out: (text) => (out += `${text}\n`),
    write: (text) => (out += text),
    err: (text) => (err += `${text}\n`),
    input: Readable.from([Buffer.from(given.input)]),
    isTty: false,
    cwd: folder,
    env: { INSPAN_HOME: join(folder, 'home'), ...given.env },
  }
  const code = await main(args, terminal)
  return { code, out, err }
}

function threadIn(text: string): string {
  const id = /inspan replay (\S+)/.exec(text)?.[1]
  assert.ok(id !== undefined, text)
  return id
}

suite('inspan run', () => {
  test('streams an answer with a tool call, keeps it, and replay shows it again', async () => {
    const ran = await inspan('run', 'What is here?')
    assert.equal(ran.code, 0)
    assert.match(ran.out, /→ list_files \{"path":"\."\}/)
    assert.match(ran.out, /✓ list_files .*notes\.txt/)
    assert.match(ran.out, /I see .*notes\.txt/)
    const replayed = await inspan('replay', threadIn(ran.err))
    assert.equal(replayed.code, 0)
    assert.equal(replayed.out, `> What is here?\n${ran.out}`)
  })

  test('continues a thread', async () => {
    const thread = threadIn((await inspan('run', 'First')).err)
    assert.equal((await inspan('run', '--thread', thread, 'Second')).code, 0)
    const { out } = await inspan('replay', thread)
    assert.deepEqual(
      out.split('\n').filter((line) => line.startsWith('> ')),
      ['> First', '> Second'],
    )
  })

  test('takes what to do from standard input when it is -, and what begins with a dash after --', async () => {
    const { err } = await inspanWith('First line,\nsecond line.\n', 'run', '-')
    assert.match((await inspan('replay', threadIn(err))).out, /^> First line,\nsecond line\.$/m)
    const dashed = await inspan('run', '--', '-v is what?')
    assert.match((await inspan('replay', threadIn(dashed.err))).out, /^> -v is what\?$/m)
    assert.equal((await inspanWith(' \n', 'run', '-')).code, 2)
  })

  test('--json prints one event per line, from one start to one finish', async () => {
    const { out, code } = await inspan('run', '--json', 'What is here?')
    assert.equal(code, 0)
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string })
    assert.equal(events[0]?.type, 'start')
    assert.equal(events.at(-1)?.type, 'finish')
    assert.equal(events.filter((event) => event.type === 'finish').length, 1)
    assert.equal(events.filter((event) => event.type === 'tool-result').length, 1)
  })

  test('Ctrl-C before there is a run starts none, and the exit code shows it', async () => {
    const program = `
      import { main } from ${JSON.stringify(new URL('main.ts', import.meta.url).href)}
      process.on('newListener', (name) => {
        if (name === 'SIGINT') queueMicrotask(() => process.emit('SIGINT', 'SIGINT'))
      })
      process.exitCode = await main(['run', 'Hello', '--json'])`
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      env: { ...process.env, INSPAN_HOME: join(folder, 'interrupted') },
      encoding: 'utf8',
    })
    assert.deepEqual([child.status, child.stdout], [130, ''])
  })

  test('explains how to see it again: with the same file, and the way the command was reached', async () => {
    const where = join(folder, "where it's kept.db")
    const ran = await inspanWith('', 'run', '--db', where, 'x')
    const shown = /See it again: (.+)$/m.exec(ran.err)?.[1] ?? ''
    assert.match(shown, /^inspan replay \S+ --db '.*'$/)
    // Splits the line as a shell does.
    const words = spawnSync('sh', ['-c', `printf '%s\\n' ${shown}`], { encoding: 'utf8' }).stdout.split('\n')
    assert.equal(words.at(-2), where)
    assert.equal((await inspan(...words.slice(1, -1))).code, 0)
    // npm sets this for the programs it starts, e.g. by `npm start` and `npx inspan`.
    const byNpm = await inspanIn({ npm_command: 'exec' }, 'run', 'x')
    assert.match(byNpm.err, /See it again: npx inspan replay \S+\n/)
  })

  test('--demo makes up the question', async () => {
    assert.equal((await inspan('run', '--demo')).code, 0)
  })
})

suite('used wrongly', () => {
  const cases: [string, string[], number, RegExp][] = [
    ['no command', [], 2, /Usage: inspan <command>/],
    [
      'an unknown command',
      ['fly'],
      2,
      /^inspan: there is no command "fly"\.[^\n]*\n\n"inspan help" lists the commands\.\n$/,
    ],
    ['help on an unknown command', ['help', 'fly'], 2, /there is no command "fly"/],
    ['nothing to do', ['run'], 2, /say what to do/],
    ['an unknown option', ['run', '--bogus', 'x'], 2, /--bogus/],
    ['an unknown thread to replay', ['replay', 'nope'], 1, /no thread "nope".*inspan threads/],
    ['an unknown thread to continue', ['run', '--thread', 'nope', 'x'], 1, /no thread "nope".*inspan threads/],
    ['no thread to replay', ['replay'], 2, /name one thread/],
    ['options for a coding agent without one', ['run', '--record', 'd', 'x'], 2, /name one with --harness/],
    ['a database below a file', ['run', '--db', 'notes.txt/x.db', 'x'], 1, /notes\.txt/],
    ['a database in a folder that is none', ['run', '--db', '/proc/nothing/x.db', 'x'], 1, /nothing/],
    ['a database that is not there to read', ['threads', '--db', 'none.db'], 1, /Nothing has been recorded/],
    ['an unknown coding agent to run', ['run', '--harness', 'emacs', 'x'], 2, /no coding agent "emacs".*claude-code/],
    ['a coding agent that is not installed', ['run', '--harness', 'codex', 'x'], 1, /codex.*install/i],
    ['a limit that is no number', ['threads', '--limit', 'many'], 2, /number from 1 to 1000/],
  ]
  for (const [what, args, code, message] of cases) {
    test(`${what}: prints the mistake and exits with ${code}`, async () => {
      const ran = await inspan(...args)
      assert.equal(ran.code, code)
      assert.match(ran.out + ran.err, message)
      assert.doesNotMatch(ran.err, /at file:/, 'no stack for a mistake of the caller')
    })
  }

  test('the mistake is named apart from the help', async () => {
    const { err } = await inspan('run', '--harness', 'codex', '--deadline', 'soon', 'x')
    assert.deepEqual(err.trimEnd().split('\n'), [
      'inspan run: --deadline takes a number of seconds above 0, at most 2000000',
      '',
      'Usage: inspan run "<prompt>" [options]',
      '"inspan help run" explains it.',
    ])
  })

  test('a file that is not ours is refused and stays as it was', async () => {
    const file = join(folder, 'letter.txt')
    await writeFile(file, 'Dear Sir or Madam, this is not a database, but it is long enough to look like a file.')
    const { code, err } = await inspan('run', '--db', file, 'x')
    assert.equal(code, 1)
    assert.match(err, /letter\.txt/)
  })

  test('a folder that cannot be made is refused with what to do', { skip: !existsSync('/proc/self') }, async () => {
    const { code, err } = await inspanIn({ INSPAN_HOME: '/proc/inspan/home' }, 'run', 'x')
    assert.equal(code, 1)
    assert.equal(
      err,
      'inspan run: The folder /proc/inspan/home cannot be created. Set INSPAN_HOME to a folder you can write to, or name a file with --db.\n',
    )
  })
})

suite('help', () => {
  for (const { name } of COMMANDS) {
    test(`explains ${name}, asked either way, with an example, and fits 120 columns`, async () => {
      const { out, code } = await inspan('help', name)
      assert.equal(code, 0)
      assert.match(out, new RegExp(`^Usage: inspan ${name}`))
      assert.match(out, new RegExp(`^Examples?.*:[^]*inspan ${name}`, 'm'))
      assert.deepEqual(
        out.split('\n').filter((line) => line.length > 120),
        [],
      )
      assert.equal((await inspan(name, '--help')).out, out)
    })
  }
})

test('inspan --version prints its version', async () => {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  for (const way of ['--version', '-v', 'version']) {
    assert.deepEqual(await inspan(way), { code: 0, out: `${version}\n`, err: '' })
  }
})

test('inspan threads lists the conversations of this folder, newest first', async () => {
  const older = threadIn((await inspan('run', 'Older')).err)
  const newer = threadIn((await inspan('run', 'Newer')).err)
  const { out } = await inspan('threads', '--limit', '2')
  assert.deepEqual(
    out
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]),
    [newer, older],
  )
})

suite('inspan normalize', () => {
  const thread = '{"type":"thread.started","thread_id":"t-1"}'
  const done = (id: string, item: object): string => JSON.stringify({ type: 'item.completed', item: { id, ...item } })

  test("prints one activity event per line from a program's own output", async () => {
    const command = {
      type: 'command_execution',
      command: "/bin/bash -lc 'sed -n 2,5p a.txt'",
      exit_code: 0,
      status: 'completed',
    }
    const { code, out } = await inspanWith(
      [thread, done('i1', command), done('i2', { type: 'agent_message', text: 'Hi.' })].join('\n'),
      'normalize',
      '--harness',
      'codex',
      '--cwd',
      '/repo',
      '--exit-code',
      '0',
    )
    assert.equal(code, 0)
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      events.map(({ timestamp: _timestamp, ...event }) => event),
      [
        { type: 'read', sessionId: 't-1', path: 'a.txt', startLine: 2, endLine: 5, isSuccess: true },
        { type: 'agent', sessionId: 't-1', message: 'Hi.' },
      ],
    )
  })

  test('a failed exit becomes an error, with what stood on standard error', async () => {
    await writeFile(join(folder, 'stderr.txt'), 'stream error: no such host\n')
    const { out } = await inspanWith(
      thread,
      'normalize',
      '--harness',
      'codex',
      '--stderr',
      'stderr.txt',
      '--exit-code',
      '1',
    )
    assert.match(out, /"type":"error"/)
    assert.match(out, /no such host/)
  })

  test('reads on when what it has printed was taken: a slow reader does not fill the memory', async () => {
    const message = '{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"Hi."}}\n'
    const firstPrinted = Promise.withResolvers<void>()
    let printed = 0
    let printedMeanwhile = 0
    let waits = 0
    async function* input(): AsyncGenerator<Buffer> {
      yield Buffer.from(message)
      await firstPrinted.promise
      yield Buffer.from(message)
    }
    await main(['normalize', '--harness', 'codex'], {
      out: () => {
        printed += 1
        firstPrinted.resolve()
      },
      write: () => undefined,
      err: () => undefined,
      taken: async () => {
        waits += 1
        const before = printed
        for (let turns = 0; turns < 10; turns += 1) await setImmediate()
        printedMeanwhile += printed - before
      },
      input: Readable.from(input()),
      isTty: false,
      cwd: folder,
      env: {},
    })
    assert.deepEqual({ printed, waits, printedMeanwhile }, { printed: 2, waits: 2, printedMeanwhile: 0 })
  })

  test('reads the output of any agent of the Agent Client Protocol', async () => {
    const says = (update: object): string =>
      JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's-1', update } })
    const input = {
      toolCallId: 'c-1',
      status: 'pending',
      kind: 'execute',
      title: 'Shell',
      rawInput: { command: 'cat a' },
    }
    const lines = [
      says({ sessionUpdate: 'tool_call', ...input }),
      says({ sessionUpdate: 'tool_call_update', toolCallId: 'c-1', status: 'completed', rawOutput: { exit_code: 0 } }),
      JSON.stringify({ jsonrpc: '2.0', id: 2, result: { stopReason: 'end_turn' } }),
    ]
    const { out } = await inspanWith(lines.join('\n'), 'normalize', '--harness', 'acp', '--cwd', '/repo')
    const { type, path, isSuccess } = JSON.parse(out) as Record<string, unknown>
    assert.deepEqual({ type, path, isSuccess }, { type: 'read', path: '/repo/a', isSuccess: true })
  })

  test('an unknown coding agent is named together with the known ones', async () => {
    const { code, err } = await inspan('normalize', '--harness', 'emacs')
    assert.equal(code, 2)
    assert.match(err, /no coding agent "emacs".*codex/)
  })
})

suite('inspan replay of a recording', () => {
  const line = (at: number, text: string): string => JSON.stringify({ at, stream: 'stdout', line: text })
  const raw = [
    JSON.stringify({ at: 1_700_000_000_000, note: { run: { harness: 'codex', cwd: '/repo' } } }),
    line(1_700_000_000_010, '{"type":"thread.started","thread_id":"t-1"}'),
    line(1_700_000_000_020, '{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"Recorded."}}'),
  ].join('\n')

  test('waits until what it has printed was taken: a slow reader does not fill the memory', async () => {
    await writeFile(join(folder, 'raw.jsonl'), `${raw}\n`)
    const steps: string[] = []
    await main(['replay', folder, '--json', '--speed', 'max'], {
      out: () => void steps.push('printed'),
      write: () => undefined,
      err: () => undefined,
      taken: async () => void steps.push('taken'),
      input: Readable.from([]),
      isTty: false,
      cwd: folder,
      env: {},
    })
    assert.ok(steps.length >= 2)
    assert.ok(
      steps.every((step, at) => step === (at % 2 === 0 ? 'printed' : 'taken')),
      steps.join(' '),
    )
  })

  test('shows what the agent did, and --json gives its events with their own times', async () => {
    await writeFile(join(folder, 'raw.jsonl'), `${raw}\n`)
    const shown = await inspan('replay', folder, '--speed', 'max')
    assert.equal(shown.code, 0)
    assert.match(shown.out, /^Recorded\.$/m)
    const { out } = await inspan('replay', join(folder, 'raw.jsonl'), '--json', '--speed', '1000')
    const agent = out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as { type: string; timestamp: string })
      .find((event) => event.type === 'agent')
    assert.equal(agent?.timestamp, new Date(1_700_000_000_020).toISOString())
  })

  test('an invalid speed is refused', async () => {
    const { code, err } = await inspan('replay', folder, '--speed', 'fast')
    assert.equal(code, 2)
    assert.match(err, /--speed takes a number/)
  })
})

suite('inspan in a folder that is not there any more', () => {
  const inGone = (...args: readonly string[]): ReturnType<typeof spawnSync> => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"'
    return spawnSync('sh', ['-c', script, process.execPath, inspanFile, ...args], { cwd: folder, encoding: 'utf8' })
  }

  test('reports that, and still prints its version', () => {
    const { status, stderr } = inGone('run', 'Hello')
    assert.equal(status, 1)
    assert.equal(stderr, 'inspan run: The current folder no longer exists. Change to another one.\n')
    assert.equal(inGone('--version').status, 0)
  })
})

suite('inspan doctor', () => {
  test('reports what is wrong with a path that was given', async () => {
    const env = { INSPAN_PI_BIN: join(folder, 'notes.txt'), INSPAN_CODEX_BIN: '/nowhere/codex', PATH: '' }
    const { out } = await inspanIn(env, 'doctor')
    assert.match(out, /^✗ pi: INSPAN_PI_BIN says .*notes\.txt, which may not be executed\. .*chmod \+x/m)
    assert.match(out, /^✗ codex: INSPAN_CODEX_BIN says .*\/nowhere\/codex, but there is no program there\./m)
    assert.match(out, /^✗ goose: not found\. Install it: /m)
    assert.match(out, /^! bubblewrap \(bwrap\) is not installed: commands of a workspace cannot be contained/m)
  })

  test('reports what cannot be ended where runs cannot be marked', { skip: unmarking === undefined }, () => {
    const [program = '', ...args] = unmarking ?? []
    const inPlace = (...more: readonly string[]): string =>
      spawnSync(program, [...args, process.execPath, inspanFile, 'doctor', ...more], {
        cwd: folder,
        env: { ...process.env, INSPAN_HOME: join(folder, 'home') },
        encoding: 'utf8',
      }).stdout
    const message =
      'prlimit (util-linux) is missing or may not set limits: a daemon that has cleared its environment outlives its run.'
    assert.equal(inPlace().trimEnd().split('\n').at(-1), `! ${message}`)
    assert.deepEqual(JSON.parse(inPlace('--json').trimEnd().split('\n').at(-1) ?? ''), { warning: message })
  })

  test('lists for every coding agent what is missing and what to do', async () => {
    const { code, out } = await inspan('doctor')
    assert.equal(code, 1)
    assert.match(out, /✗ codex: not found\. Install it: /)
    assert.match(out, /✗ claude-code: not found\. Install it: /)
  })

  test('reads the whole file of conversations, and reports what is damaged in it', async () => {
    const file = join(folder, 'doctored.db')
    await inspan('run', '--db', file, 'What is here?')
    assert.match((await inspan('doctor', '--db', file)).out, /^✓ .*doctored\.db: not damaged$/m)
    const bytes = await readFile(file)
    // Overwrites every page but the first, so that they are no longer a tree of rows.
    bytes.fill(0xa5, 4096)
    await writeFile(file, bytes)
    const { code, out } = await inspan('doctor', '--db', file)
    assert.equal(code, 1)
    assert.match(out, /^✗ .*doctored\.db: cannot be relied on\. Restore it from a backup\.\n {4}\S/m)
    await writeFile(file, 'no database')
    assert.match((await inspan('doctor', '--db', file)).out, /^✗ .*doctored\.db: .+\n {4}\S/m)
    assert.equal((await inspan('doctor', '--db', join(folder, 'nowhere.db'))).code, 1)
  })

  test('--json has a line for each', async () => {
    const { out } = await inspan('doctor', '--json')
    const rows = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; found: boolean })
    assert.ok(rows.some((row) => row.id === 'codex' && !row.found))
  })
})
