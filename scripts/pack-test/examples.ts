/** Runs the programs of examples/ as a stranger would: with packages installed from tarballs. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { it } from 'node:test'
import { outsideEnvironment } from './run.ts'

export interface ExamplesPlace {
  readonly root: string
  /** A folder whose node_modules have the packages. Asked for when the tests run. */
  readonly consumer: string
  readonly node: () => string
}

interface Ended {
  readonly stdout: string
  readonly code: number | null
}

/** Registers the tests. Those of Claude Code and Codex need these programs, and are in examples.real.ts. */
export function testExamples({ root, consumer, node }: ExamplesPlace): void {
  const play = async (file: string, input = '', args: readonly string[] = []): Promise<Ended> => {
    await cp(join(root, 'examples'), join(consumer, 'examples'), { recursive: true })
    return playProgram(node(), [...args, join('examples', file)], consumer, input)
  }

  it('terminal chat: a tool runs after it was approved, and not after it was declined', async () => {
    const approved = await play('terminal-chat/main.ts', 'Hi\nWrite down milk.\ny\n')
    assert.match(approved.stdout, /Hello! Tell me what to write down\./)
    assert.match(approved.stdout, /\? add_note \{"text":"buy milk"\} \[y\/n\] approved\nNoted\./)
    assert.match(approved.stdout, /\n1 note\(s\): buy milk\n$/)
    const declined = await play('terminal-chat/main.ts', 'Hi\nWrite down milk.\nn\n')
    assert.match(declined.stdout, /\n0 note\(s\): \n$/)
  })

  it('plan and build: prints what the guide shows', async () => {
    const page = await readFile(join(root, 'docs/guide/modes.md'), 'utf8')
    const shown = /^prints\n\n```text\n(.+?)^```$/ms.exec(page)?.[1]
    assert.deepEqual(await play('plan-and-build/main.ts'), { stdout: shown, code: 0 })
  })

  it('webhook bot: answers a question in the chat, and takes no forged delivery', async () => {
    const { stdout, code } = await play('webhook-bot/main.ts')
    assert.equal(code, 0)
    const lines = stdout.trim().split('\n')
    assert.deepEqual(lines.slice(0, 2), ['a forged delivery gets 401', 'ann: deploy 1.2.0'])
    assert.match(lines[2] ?? '', /^bot: .*deploy.* Shall I\?$/)
    assert.deepEqual(lines.slice(3), ['ann: yes', 'bot: Version 1.2.0 is out. (complete, deployed: 1.2.0)'])
  })

  it('custom driver: takes a turn, and passes the contract of drivers', async () => {
    const { stdout } = await play('custom-driver/main.ts')
    assert.equal(stdout, 'parrot: Polly wants a cracker.\nrun ended: complete\n')
    assert.equal((await play('custom-driver/contract.test.ts', '', ['--test'])).code, 0)
  })

  it('custom store: records a run, and passes the contract of stores', async () => {
    const { stdout } = await play('custom-store/main.ts')
    assert.equal(stdout, 'run.started\nturn.started\nturn.ended\nrun.ended\n')
    assert.equal((await play('custom-store/contract.test.ts', '', ['--test'])).code, 0)
  })

  it('web chat: serves the page with its program, and lets a browser in by its code, once', async () => {
    await cp(join(root, 'examples'), join(consumer, 'examples'), { recursive: true })
    const { server, address } = await startWebChat(node(), consumer)
    try {
      const { hash, origin } = new URL(address)
      assert.match(await (await fetch(origin)).text(), /<script type="module" src="\/page\.js">/)
      assert.match(await (await fetch(`${origin}/page.js`)).text(), /\bcreateRoot\b/)
      const pair = (): Promise<Response> =>
        fetch(`${origin}/v1/pair`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin },
          body: JSON.stringify({ code: hash.slice(1) }),
        })
      const first = await pair()
      assert.equal(first.status, 200)
      assert.match(first.headers.get('set-cookie') ?? '', /HttpOnly/)
      assert.notEqual((await pair()).status, 200)
    } finally {
      server.kill('SIGTERM')
      await once(server, 'close')
    }
  })
}

/** Runs a program to its end with this input. */
export async function playProgram(
  node: string,
  args: readonly string[],
  cwd: string,
  input = '',
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const child = start(node, args, cwd, env)
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { stdout, code }
}

/** Starts the server of the web chat, and returns it with the address that it prints for a browser. */
export async function startWebChat(
  node: string,
  consumer: string,
): Promise<{ readonly server: ChildProcessWithoutNullStreams; readonly address: string }> {
  const server = start(node, [join('examples', 'web-chat/main.ts')], consumer, {})
  for await (const line of createInterface({ input: server.stdout })) {
    return { server, address: /^Open (\S+) /.exec(line)?.[1] ?? '' }
  }
  throw new Error('The web chat ended without an address.')
}

function start(
  node: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): ChildProcessWithoutNullStreams {
  const child = spawn(node, args, { cwd, env: { ...outsideEnvironment(), ...env } })
  child.stderr.pipe(process.stderr)
  return child
}
