import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { nativeDriver, SqliteStore } from '@inspan/core'
import { createThread, ProcessOwner, ThreadRuntime } from '@inspan/core/engine'
import type { ActivityEvent } from '@inspan/protocol'
import { scriptedModel } from '@inspan/testing'
import { main } from './main.ts'
import { capturedMain, type CapturedRun } from './captured-main.fixture.ts'

/** Prints what Codex prints: a retry, a message, two commands of which one fails, and the answer. */
const PROGRAM = `#!${process.execPath}
if (process.argv.includes('--version')) { console.log('codex-cli 0.169.0'); process.exit(0) }
const say = (record) => process.stdout.write(JSON.stringify(record) + '\\n')
for await (const chunk of process.stdin) chunk
const item = (id, more) => say({ type: 'item.completed', item: { id, ...more } })
console.error('a line of its log')
say({ type: 'thread.started', thread_id: 'native-1' })
say({ type: 'turn.started' })
say({ type: 'error', message: 'Reconnecting... 1/5 (busy)' })
item('a', { type: 'agent_message', text: 'Let me look.' })
item('b', { type: 'command_execution', command: "bash -lc 'cat notes.txt'", aggregated_output: 'one\\ntwo\\n', exit_code: 0, status: 'completed' })
item('c', { type: 'command_execution', command: "bash -lc 'ARGS'".replace('ARGS', process.argv.includes('sandbox_mode="danger-full-access"') ? 'free' : 'bound'), aggregated_output: '', exit_code: 3, status: 'failed' })
item('d', { type: 'agent_message', text: 'Done.' })
say({ type: 'turn.completed', usage: { input_tokens: 12, output_tokens: 3 } })
`

let folder = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan-foreign-'))
  await writeFile(join(folder, 'codex'), PROGRAM)
  await chmod(join(folder, 'codex'), 0o755)
})
after(() => rm(folder, { recursive: true, maxRetries: 5 }))

function inspan(...args: string[]): Promise<CapturedRun> {
  return inspanIn({}, ...args)
}

function inspanIn(env: Readonly<Record<string, string>>, ...args: string[]): Promise<CapturedRun> {
  const given = {
    INSPAN_HOME: join(folder, 'home'),
    INSPAN_CODEX_BIN: join(folder, 'codex'),
    CODEX_API_KEY: 'k',
    ...env,
  }
  return capturedMain(args, { cwd: folder, env: given })
}

function threadIn({ err }: CapturedRun): string {
  return /inspan replay (\S+)/.exec(err)?.[1] ?? ''
}

interface Line {
  readonly type: string
  readonly usage?: { readonly inputTokens?: number }
  readonly activity?: { readonly events: readonly ActivityEvent[] }
}

function parsed<Type>(text: string): Type[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Type)
}

const brief = (event: ActivityEvent): string =>
  event.type === 'command'
    ? `command ${event.command}`
    : 'message' in event
      ? `${event.type} ${event.message}`
      : event.type

suite('inspan run --harness', () => {
  test('shows texts, calls, warnings and retries as they come, and so does replay', async () => {
    const ran = await inspan('run', '--harness', 'codex', 'Look')
    assert.equal(ran.code, 0)
    assert.match(ran.out, /^warning: a line of its log$/m)
    assert.match(ran.out, /^warning retry: Reconnecting\.\.\. 1\/5 \(busy\)$/m)
    assert.match(ran.out, /^Let me look\.$/m)
    assert.match(ran.out, /→ command_execution .*cat notes\.txt/)
    assert.match(ran.out, /^✓ command_execution one ⏎ two$/m)
    assert.match(ran.out, /^✗ command_execution/m)
    assert.match(ran.out, /^Done\.$/m)
    assert.equal((await inspan('replay', threadIn(ran))).out, `> Look\n${ran.out}`)
  })

  test('a conversation continues with the agent it was last with, unless another one is named', async () => {
    const thread = threadIn(await inspan('run', '--harness', 'codex', 'Look'))
    const again = await inspan('run', '--thread', thread, '--permissions', 'full', 'Look again')
    assert.match(again.out, /bash -lc 'free'/)
    assert.doesNotMatch(again.out, /demo agent/)
    assert.match((await inspan('run', '--thread', thread, '--demo')).out, /I am the built-in demo agent/)
    assert.match((await inspan('run', '--thread', thread, 'And now?')).out, /I am the built-in demo agent/)
    const refused = await inspan('run', '--thread', thread, '--permissions', 'full', 'x')
    assert.equal(refused.code, 2)
    assert.match(refused.err, /name one with --harness/)
  })

  test('a conversation with an agent that is none of ours is not given to another one unasked', async () => {
    const db = join(folder, 'app.db')
    const store = new SqliteStore({ url: db })
    const owner = await ProcessOwner.register(store)
    await createThread(store, { id: 'of-an-app', resourceId: folder })
    const driver = nativeDriver({ id: 'painter', model: scriptedModel([{ text: 'Red.' }]) })
    const runtime = await ThreadRuntime.open({ store, owner, thread: 'of-an-app', agents: { painter: { driver } } })
    await (
      await runtime.submit({ agentId: 'painter', parts: [{ id: '0', type: 'text', text: 'Paint.' }] })
    ).done
    await runtime.close()
    await owner.close()
    await store.close()
    const refused = await inspan('run', '--db', db, '--thread', 'of-an-app', 'More')
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /with "painter", which inspan does not have\. Name the agent .*--harness <id>, --model <provider\/model>, or --demo/,
    )
    assert.equal((await inspan('run', '--db', db, '--thread', 'of-an-app', '--harness', 'codex', 'More')).code, 0)
  })

  test('--json has every chat event with its activity, and activity without a chat event as notes', async () => {
    const { code, out } = await inspan('run', '--harness', 'codex', '--json', 'Look')
    assert.equal(code, 0)
    const lines = parsed<Line>(out)
    assert.equal(lines[0]?.type, 'start')
    assert.equal(lines.at(-1)?.type, 'finish')
    assert.equal(lines.at(-1)?.usage?.inputTokens, 12)
    const activity = lines.flatMap((line) => line.activity?.events ?? []).map(brief)
    assert.deepEqual(activity.toSorted(), [
      'agent Done.',
      'agent Let me look.',
      "command bash -lc 'bound'",
      'read',
      'warning Reconnecting... 1/5 (busy)',
      'warning a line of its log',
    ])
    for (const line of lines) if (line.type === 'note') assert.equal(line.activity?.events[0]?.type, 'warning')
  })

  test('a recording is kept for a week, and one with a given place for ever', async () => {
    const place = join(folder, 'mine')
    const given = await inspan('run', '--harness', 'codex', '--record', place, 'Look')
    const [old, young] = [
      await inspan('run', '--harness', 'codex', 'Look'),
      await inspan('run', '--harness', 'codex', 'Look'),
    ]
    const dirOf = ({ err }: { err: string }): string => /^Recorded in (.+)$/m.exec(err)?.[1] ?? ''
    assert.equal(dirOf(given), place)
    const eightDaysAgo = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000)
    for (const dir of [place, dirOf(old)]) await utimes(join(dir, 'raw.jsonl'), eightDaysAgo, eightDaysAgo)
    assert.equal((await inspan('run', '--harness', 'codex', 'Look')).code, 0)
    assert.equal(existsSync(dirOf(old)), false)
    for (const dir of [place, dirOf(young)]) {
      assert.deepEqual((await readdir(dir)).toSorted(), ['events.jsonl', 'raw.jsonl'])
    }
  })

  test('each run is recorded, and normalize gives exactly the recorded events', async () => {
    const { err } = await inspan('run', '--harness', 'codex', 'Look')
    const dir = /^Recorded in (.+)$/m.exec(err)?.[1] ?? ''
    const events = await readFile(join(dir, 'events.jsonl'), 'utf8')
    assert.ok(parsed<ActivityEvent>(events).some((event) => event.type === 'read'))
    const raw = await readFile(join(dir, 'raw.jsonl'))
    let again = ''
    await main(['normalize'], {
      out: (text) => (again += `${text}\n`),
      write: () => undefined,
      err: () => undefined,
      input: Readable.from([raw]),
      isTty: false,
      cwd: folder,
      env: {},
    })
    assert.equal(again, events)
    assert.match((await inspan('replay', dir, '--speed', 'max')).out, /^Done\.$/m)
  })

  test('--record names the folder', async () => {
    const { err } = await inspan('run', '--harness', 'codex', '--record', 'named', 'Look')
    assert.ok(err.includes(`Recorded in ${join(folder, 'named')}`))
    assert.ok((await readFile(join(folder, 'named', 'events.jsonl'), 'utf8')).includes('"read"'))
  })

  test('--deadline and --stall end a program that does not get anywhere', async () => {
    const silent = join(folder, 'silent')
    await writeFile(silent, `${PROGRAM.split('\n').slice(0, 3).join('\n')}\nsetInterval(() => {}, 1000)\n`)
    await chmod(silent, 0o755)
    const run = (...args: string[]): ReturnType<typeof inspan> =>
      inspanIn({ INSPAN_CODEX_BIN: silent }, 'run', '--harness', 'codex', ...args, 'Look')
    const late = await run('--deadline', '1')
    assert.equal(late.code, 1)
    assert.match(late.out, /^! Codex did not finish within 1000 ms and was stopped\.$/m)
    const stalled = await run('--stall', '0.5', '--abort-on-stall')
    assert.equal(stalled.code, 1)
    assert.match(stalled.out, /^warning stall: Codex has printed nothing for \d+ ms\.\n! Codex has printed nothing/m)
    const warned = await run('--stall', '0.5', '--deadline', '2')
    assert.match(warned.out, /^warning stall: .*\n! Codex did not finish/m, 'a warning ends nothing')
    for (const wrong of ['0', '-1', 'soon', '', '1e9']) assert.equal((await run(`--deadline=${wrong}`)).code, 2)
    const own = await inspan('run', '--stall', '1', 'Look')
    assert.match(own.err, /--stall is for coding agents: name one with --harness/)
  })

  test('an incomplete or missing recording is reported', async () => {
    await mkdir(join(folder, 'full'))
    // /dev/full acts as a full disk.
    await symlink('/dev/full', join(folder, 'full', 'events.jsonl'))
    const full = await inspan('run', '--harness', 'codex', '--json', '--record', 'full', 'Look')
    assert.equal(full.code, 0)
    assert.match(full.err, /^The recording in .*\/full is not complete: .*ENOSPC/)
    const nowhere = await inspan('run', '--harness', 'codex', '--record', 'codex/below-a-file', 'Look')
    assert.equal(nowhere.code, 1)
    assert.match(nowhere.out, /^! A run cannot be recorded in .*below-a-file.*Name a folder/m)
    assert.doesNotMatch(nowhere.err, /Recorded in/)
    const taken = await inspan('run', '--harness', 'codex', '--record', 'full', 'Look')
    assert.equal(taken.code, 1)
    assert.match(taken.out, /^! .*full\/raw\.jsonl holds another run already\. Give each run its own folder\./m)
    assert.doesNotMatch(taken.err, /Recorded in/)
  })

  test('--redact keeps what matches out of the recording and of what is kept', async () => {
    const patterns = ['--redact', 'notes\\.\\w+', '--redact', 'Done']
    const { err } = await inspan('run', '--harness', 'codex', '--record', 'redacted', ...patterns, 'Look')
    for (const name of ['raw.jsonl', 'events.jsonl']) {
      const recorded = await readFile(join(folder, 'redacted', name), 'utf8')
      assert.match(recorded, /\[redacted\]/)
      assert.doesNotMatch(recorded, /notes\.txt|Done/)
    }
    const thread = /inspan replay (\S+)/.exec(err)?.[1] ?? ''
    const { out } = await inspan('replay', thread)
    assert.match(out, /\[redacted\]/)
    assert.doesNotMatch(out, /notes\.txt|Done/)
    const wrong = await inspan('run', '--harness', 'codex', '--redact', '(', 'Look')
    assert.equal(wrong.code, 2)
    assert.match(wrong.err, /--redact "\(" is not a regular expression/)
  })

  test('--permissions sets what it may do', async () => {
    assert.match((await inspan('run', '--harness', 'codex', '--permissions', 'full', 'Look')).out, /'free'/)
    assert.match((await inspan('run', '--harness', 'codex', '--permissions', 'edit', 'Look')).out, /'bound'/)
    const wrong = await inspan('run', '--harness', 'codex', '--permissions', 'all', 'Look')
    assert.equal(wrong.code, 2)
    assert.match(wrong.err, /--permissions takes one of read-only, edit, full/)
  })
})

test('inspan normalize reports a file for --stderr that cannot be read, without a stack', async () => {
  const { code, err } = await inspan('normalize', '--harness', 'codex', '--stderr', 'nowhere.txt')
  assert.equal(code, 1)
  assert.match(err, /nowhere\.txt cannot be read/)
  assert.doesNotMatch(err, /\n\s+at /)
})

test('inspan normalize: the lines of --stderr are read as those of a program', async () => {
  await writeFile(join(folder, 'marked.txt'), '\uFEFFfirst\r\nsecond\nhalf')
  const { out } = await inspan('normalize', '--harness', 'codex', '--stderr', 'marked.txt', '--exit-code', '0')
  assert.deepEqual(parsed<ActivityEvent>(out).map(brief), ['warning first', 'warning second', 'warning half'])
})

test('inspan replay refuses what is no recording, and names what would be one', async () => {
  await writeFile(join(folder, 'output.jsonl'), '{"type":"thread.started","thread_id":"t"}\n')
  await mkdir(join(folder, 'empty'))
  for (const [what, message] of [
    ['output.jsonl', /output\.jsonl is not a recording of a run\..*raw\.jsonl.*inspan normalize/],
    ['empty', /There is no raw\.jsonl in .*empty/],
  ] as const) {
    const { code, err } = await inspan('replay', what)
    assert.equal(code, 1)
    assert.match(err, message)
  }
})
