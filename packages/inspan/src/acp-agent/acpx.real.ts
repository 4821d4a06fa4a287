/** `inspan acp` driven by acpx, the command-line client of the Agent Client Protocol from npm. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { before, suite, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AnyMessage } from '@agentclientprotocol/sdk'
import { startProvider, type Provider } from '@inspan/testing'
import { checkAgentMessage } from './acp-client.fixture.ts'

const INSTALL = fileURLToPath(new URL('../../../adapters/test/real/install-cli.ts', import.meta.url))
const BIN = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))
/** Many times what a test and the installation take: the machine may be busy, the line slow. */
const TEST_MS = 20 * 60_000

/**
 * acpx keeps a process for each session and gives it two seconds to answer, six to start, and two to leave a lock, which
 * a busy machine may exceed. These errors say that nothing was sent to the agent.
 */
const NOTHING_SENT =
  /queue owner failed to start|running but not accepting|queue owner (?:is )?(?:shutting down|closing)|file lock timeout/i

type Turns = Parameters<typeof startProvider>[0]

let acpx = ''
before(
  async () => {
    acpx = (await promisify(execFile)(process.execPath, [INSTALL, 'acpx'])).stdout.trim()
  },
  { timeout: 60 * 60_000 },
)

/** A project with a home of its own, in which acpx talks to our agent. */
class Place implements AsyncDisposable {
  readonly #base: string
  readonly cwd: string
  readonly provider: Provider

  private constructor(base: string, provider: Provider) {
    this.#base = base
    this.cwd = join(base, 'work')
    this.provider = provider
  }

  static async make(turns: Turns): Promise<Place> {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'inspan-acpx-')))
    for (const folder of ['work', 'home']) await mkdir(join(base, folder))
    return new Place(base, await startProvider(turns))
  }

  /** Runs acpx to its end; `onLine` sees what it prints while it runs. */
  async acpx(
    args: readonly string[],
    { code: wanted = 0, onLine }: { readonly code?: number; readonly onLine?: (line: string) => void } = {},
  ): Promise<string> {
    const agent = `${process.execPath} ${BIN} acp --model anthropic/claude-sonnet-4-5`
    const home = join(this.#base, 'home')
    const child = spawn(acpx, ['--agent', agent, ...args], {
      cwd: this.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        INSPAN_HOME: join(home, '.inspan'),
        ANTHROPIC_API_KEY: 'key',
        ANTHROPIC_BASE_URL: `${this.provider.url}/v1`,
      },
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    const lines: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      onLine?.(line)
    })
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== wanted && NOTHING_SENT.test(errors + lines.join('\n'))) {
      return this.acpx(args, { code: wanted, ...(onLine === undefined ? {} : { onLine }) })
    }
    // With `--json-strict` acpx reports its errors on standard output.
    assert.equal(code, wanted, `acpx ${args.join(' ')}: ${errors}\n${lines.slice(-3).join('\n')}`)
    return lines.join('\n')
  }

  /**
   * Ends the process that acpx keeps for a session, and waits until it is gone: a prompt sent while it ends fails. It
   * would end by itself after `--ttl`, but counts from its own start, and with a short one may end before the prompt.
   */
  async endOwner(): Promise<void> {
    const first = await this.#ownerPid()
    assert.ok(first !== undefined, 'acpx keeps a process')
    process.kill(first, 'SIGTERM')
    while ((await this.#ownerPid()) !== undefined) await setTimeout(100)
  }

  async #ownerPid(): Promise<number | undefined> {
    const status: unknown = JSON.parse(await this.acpx(['--format', 'json', 'status']))
    assert.ok(typeof status === 'object' && status !== null && 'status' in status)
    return 'pid' in status && typeof status.pid === 'number' ? status.pid : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.acpx(['sessions', 'close']).catch(() => undefined)
    await this.provider[Symbol.asyncDispose]()
    await rm(this.#base, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

/** Every message between the two, as acpx prints them. Those of our agent are validated against the SDK's schema. */
function conversation(printed: string): readonly AnyMessage[] {
  const messages = printed.split('\n').map((line) => JSON.parse(line) as AnyMessage)
  const methods = new Map<unknown, string>()
  let checked = 0
  for (const message of messages) {
    const isPermission = 'result' in message && 'outcome' in Object(message.result)
    const isOurs = 'method' in message ? OURS.has(message.method) : !isPermission
    if (!isOurs && 'method' in message && 'id' in message) methods.set(message.id, message.method)
    if (!isOurs) continue
    checkAgentMessage(message, methods)
    checked++
  }
  assert.ok(checked >= 4, printed)
  return messages
}

const OURS: ReadonlySet<string> = new Set(['session/update', 'session/request_permission'])
/** How acpx exits when it denied something that the agent asked for. */
const DENIED = 5
const JSON_LINES = ['--format', 'json', '--json-strict']
const write = (path: string) => ({ toolCalls: [{ name: 'write_file', input: { path, content: 'x' } }] })

suite('acpx with `inspan acp`', { timeout: TEST_MS }, () => {
  test('prompts, and what it approves happens', async () => {
    await using place = await Place.make([write('yes.txt'), { text: 'It is written.' }])
    const messages = conversation(await place.acpx([...JSON_LINES, '--approve-all', 'exec', 'Write yes.txt']))
    assert.equal(await readFile(join(place.cwd, 'yes.txt'), 'utf8'), 'x')
    assert.match(JSON.stringify(messages), /It is written\./)
    assert.match(JSON.stringify(messages.at(-1)), /"stopReason":"end_turn"/)
  })

  test('prompts, and what it denies does not happen', async () => {
    await using place = await Place.make([write('no.txt'), { text: 'Then not.' }])
    const args = [...JSON_LINES, '--deny-all', 'exec', 'Write no.txt']
    const messages = conversation(await place.acpx(args, { code: DENIED }))
    assert.equal(existsSync(join(place.cwd, 'no.txt')), false)
    assert.match(JSON.stringify(messages), /"status":"failed".*Then not\./)
  })

  test('lists a session, and resumes it in another process with its history', async () => {
    await using place = await Place.make([{ text: 'I will remember 7.' }, { text: 'It was 7.' }])
    const id = (await place.acpx(['--format', 'quiet', 'sessions', 'new'])).trim()
    assert.match(await place.acpx(['--format', 'quiet', 'prompt', 'Remember 7.']), /I will remember 7\./)
    await place.endOwner()
    assert.match(await place.acpx(['sessions', 'list']), new RegExp(`^${id}\\tRemember 7\\.`, 'm'))
    const messages = conversation(await place.acpx([...JSON_LINES, 'prompt', 'Which number?']))
    const methods = messages.flatMap((message) => ('method' in message ? [message.method] : []))
    assert.deepEqual(methods.slice(0, 3), ['initialize', 'session/resume', 'session/prompt'], 'a new process')
    assert.match(JSON.stringify(messages), /It was 7\./)
    const [, second] = place.provider.requests
    assert.match(JSON.stringify(second?.body), /Remember 7\..*I will remember 7\..*Which number\?/)
  })

  test('shows the approval of a plan as a permission, and tasks as a plan', async () => {
    const tasks = [{ content: 'Sort', status: 'in_progress', activeForm: 'Sorting' }]
    await using place = await Place.make([
      { toolCalls: [{ name: 'submit_plan', input: { title: 'Tidy up', plan: '1. Sort' } }] },
      { toolCalls: [{ name: 'task_write', input: { tasks } }] },
      { text: 'Sorted.' },
    ])
    const messages = conversation(await place.acpx([...JSON_LINES, '--approve-all', 'exec', 'Plan']))
    const asked = messages.find((message) => 'method' in message && message.method === 'session/request_permission')
    assert.match(JSON.stringify(asked), /"title":"Tidy up"/)
    assert.match(JSON.stringify(messages), /"sessionUpdate":"plan","entries":\[\{"content":"Sort"/)
    assert.match(JSON.stringify(messages), /Sorted\./)
  })

  test('cancels a prompt that runs', async () => {
    await using place = await Place.make([
      { toolCalls: [{ name: 'execute_command', input: { command: 'sleep 300' } }] },
      { text: 'never' },
    ])
    await place.acpx(['--format', 'quiet', 'sessions', 'new'])
    let cancelling: Promise<string> | undefined
    const onLine = (line: string): void => {
      if (/"optionId":"allow"/.test(line)) cancelling ??= place.acpx(['cancel'])
    }
    const printed = await place.acpx([...JSON_LINES, '--approve-all', 'prompt', 'Work.'], { onLine })
    await cancelling
    assert.match(JSON.stringify(conversation(printed).at(-1)), /"stopReason":"cancelled"/)
    assert.equal(place.provider.requests.length, 1)
  })

  test('chooses a mode and a config option', async () => {
    await using place = await Place.make([write('free.txt'), { text: 'Done.' }])
    await place.acpx(['--format', 'quiet', 'sessions', 'new'])
    assert.match(await place.acpx(['set-mode', 'build']), /build/)
    assert.match(await place.acpx(['set', 'permissions', 'full-auto']), /full-auto/)
    await place.acpx(['--deny-all', 'prompt', 'Write free.txt'])
    assert.ok(existsSync(join(place.cwd, 'free.txt')), 'nobody was asked')
  })
})
