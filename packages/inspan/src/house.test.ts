// Commands around conversations: export, data, keys, config, report, completion.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, suite, test } from 'node:test'
import { nativeDriver, SqliteStore } from '@inspan/core'
import { createThread, ProcessOwner, ThreadRuntime } from '@inspan/core/engine'
import { scriptedModel } from '@inspan/testing'
import { parseConfig } from './config-file.ts'
import { main } from './main.ts'
import { capturedMain, type CapturedRun } from './captured-main.fixture.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan-house-'))
})
afterEach(() => rm(folder, { recursive: true, maxRetries: 5 }))

function inspan(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CapturedRun> {
  const given = { HOME: folder, INSPAN_HOME: join(folder, 'home'), PATH: '', ...env }
  return capturedMain(args, { cwd: folder, env: given })
}

/** Records a thread in which a model says something. */
async function record(text: string): Promise<string> {
  await mkdir(join(folder, 'home'), { recursive: true })
  const store = new SqliteStore({ url: join(folder, 'home', 'inspan.db') })
  const owner = await ProcessOwner.register(store)
  const { id } = await createThread(store, { resourceId: folder, title: 'A <b>title</b>' })
  const driver = nativeDriver({ id: 'me', model: scriptedModel([{ reasoning: 'Hm.', text }]) })
  const runtime = await ThreadRuntime.open({ store, owner, thread: id, agents: { me: { driver } } })
  await (
    await runtime.submit({ agentId: 'me', parts: [{ id: '0', type: 'text', text: 'Say it' }] })
  ).done
  await runtime.close()
  await owner.close()
  await store.close()
  return id
}

suite('inspan export', () => {
  test('writes HTML that is one file, loads nothing and runs nothing', async () => {
    const thread = await record('<script src="https://evil.example/x.js"></script><img src=x onerror=alert(1)>')
    assert.equal((await inspan(['export', thread, '--output', 'out.html'])).code, 0)
    const html = await readFile(join(folder, 'out.html'), 'utf8')
    assert.match(html, /&lt;script src=&quot;https:\/\/evil/)
    assert.doesNotMatch(html, /<script|<img|<link|<iframe| src=["']?http/i)
    assert.match(html, /<title>A &lt;b&gt;title&lt;\/b&gt;<\/title>/)
    assert.match(html, /Content-Security-Policy" content="default-src 'none'/)
  })

  test('writes Markdown and JSON, and leaves secrets out if asked to', async () => {
    const key = `sk-ant-api03-${'a1B2'.repeat(24)}`
    const thread = await record(`It is ${key}.`)
    const markdown = await inspan(['export', thread])
    assert.match(markdown.out, /^# A <b>title<\/b>\n[^]*## You\n\nSay it\n\n## Agent\n\n> Hm\.\n\nIt is sk-ant/)
    const json = await inspan(['export', thread, '--format', 'json', '--redact'])
    const { messages } = JSON.parse(json.out) as { messages: { content: string }[] }
    assert.equal(messages.length, 2)
    assert.ok(!json.out.includes(key))
  })
})

suite('inspan data', () => {
  test('reports where everything is and how large it is', async () => {
    await record('Hello.')
    const { out } = await inspan(['data', '--json'])
    const rows = out
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row) as { what: string; path: string; bytes: number })
    const [conversations] = rows
    assert.equal(conversations?.path, join(folder, 'home', 'inspan.db'))
    assert.ok(conversations.bytes > 10_000)
  })

  test('makes a backup that can be read in place of the original', async () => {
    const thread = await record('Keep me.')
    assert.equal((await inspan(['data', 'backup', 'copy.db'])).code, 0)
    assert.equal((await inspan(['data', 'backup', 'copy.db'])).code, 1, 'and overwrites nothing')
    const { out } = await inspan(['export', thread, '--db', 'copy.db'])
    assert.match(out, /Keep me\./)
  })

  test('deletes a thread for good: nothing of it is left in the file', async () => {
    const thread = await record('A very particular sentence.')
    const file = join(folder, 'home', 'inspan.db')
    assert.ok((await readFile(file)).includes('A very particular sentence.'))
    assert.equal((await inspan(['data', 'delete', thread])).code, 2, 'not without --yes')
    assert.equal((await inspan(['data', 'delete', thread, '--yes'])).code, 0)
    for (const name of [file, `${file}-wal`]) {
      if (existsSync(name)) assert.ok(!(await readFile(name)).includes('A very particular sentence.'), name)
    }
    assert.equal((await inspan(['export', thread])).code, 1)
  })

  test('deletes everything of inspan on this machine, and nothing else', async () => {
    const thread = await record('A very particular sentence.')
    const home = join(folder, 'home')
    await mkdir(join(home, 'recordings', 'one'), { recursive: true })
    for (const name of ['recordings/one/raw.jsonl', 'server-tokens.json', 'trusted-folders.json']) {
      await writeFile(join(home, name), 'secret')
    }
    await writeFile(join(folder, 'inspan.json'), '{}')
    const refused = await inspan(['data', 'delete', '--all'])
    assert.equal(refused.code, 2, 'not without --yes')
    assert.match(refused.err, /--yes is needed where nobody can be asked/)
    assert.match((await inspan(['export', thread])).out, /A very particular sentence\./)
    const { code, out } = await inspan(['data', 'delete', '--all', '--yes'])
    assert.deepEqual([code, out], [0, `Deleted ${home}\n`])
    // A log begins anew with the command itself.
    const left = existsSync(home) ? await readdir(home, { recursive: true }) : []
    assert.deepEqual(
      left.filter((name) => !/\blogs?\b/.test(name)),
      [],
    )
    assert.equal(await readFile(join(folder, 'inspan.json'), 'utf8'), '{}', 'the settings of a project are its own')
    assert.equal((await inspan(['export', thread])).code, 1)
  })

  test('deletes everything only after a yes in a terminal', async () => {
    const thread = await record('Still here.')
    const answered = async (line: string): Promise<number> => {
      const env = { HOME: folder, INSPAN_HOME: join(folder, 'home'), PATH: '' }
      const print = (): void => undefined
      const input = Readable.from([line])
      return main(['data', 'delete', '--all'], {
        out: print,
        write: print,
        err: print,
        input,
        isTty: true,
        cwd: folder,
        env,
      })
    }
    for (const line of ['n\n', '\n', 'yesterday\n', '']) assert.equal(await answered(line), 1, line)
    assert.match((await inspan(['export', thread])).out, /Still here\./)
    assert.equal(await answered('y\n'), 0)
    assert.equal((await inspan(['export', thread])).code, 1)
  })
})

suite('inspan keys', () => {
  test('names where a key comes from and never shows it', async () => {
    const { out } = await inspan(['keys', '--all'], { ANTHROPIC_API_KEY: 'sk-secret-value' })
    assert.match(out, /^✓ anthropic: environment variable ANTHROPIC_API_KEY$/m)
    assert.match(out, /^✗ openai: set OPENAI_API_KEY$/m)
    assert.ok(!out.includes('sk-secret-value'))
  })
})

suite('the config', () => {
  test('is written by init, checked, and used by run', async () => {
    assert.equal((await inspan(['init', '--model', 'anthropic/claude-sonnet-4-5'])).code, 0)
    assert.equal((await inspan(['init'])).code, 1, 'and never overwritten')
    assert.match((await inspan(['init', '--check'])).out, /"model":"anthropic\/claude-sonnet-4-5"/)
    const ran = await inspan(['run', 'Hello'])
    assert.match(ran.err, /There is no key for "anthropic\/claude-sonnet-4-5"/)
  })

  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['an unknown name', '{\n  "modle": "x"\n}', /^f\.json:2:3: there is no setting "modle"\..*"model"/],
    ['a wrong value', '{\n  "model": "x",\n  "timeout": "soon"\n}', /^f\.json:3:14: "timeout" has to be a number/],
    ['a wrong member of a list', '{ "deny": ["reading"] }', /^f\.json:1:11: "deny" has to be a list of edit/],
    ['a missing comma', '{\n  "model": "x"\n  "timeout": 3\n}', /^f\.json:3:3: this is not JSON/],
    ['a list', '[]', /^f\.json:1:1: the file has to hold an object/],
    ['a name within a string', '{ "model": "\\"timeout\\": 1", "x": 1 }', /^f\.json:1:30: there is no setting "x"/],
  ]
  for (const [what, text, expected] of cases) {
    test(`points at the line of ${what}`, () => {
      assert.throws(
        () => parseConfig(text, 'f.json'),
        (error: Error) => expected.test(error.message) || assert.fail(error.message),
      )
    })
  }

  test('cannot allow anything', async () => {
    await writeFile(join(folder, 'inspan.json'), '{ "allow": ["edit"] }')
    const ran = await inspan(['run', 'Hello'])
    assert.equal(ran.code, 1)
    assert.match(ran.err, /inspan\.json:1:3: there is no setting "allow"/)
  })
})

suite('inspan report', () => {
  test('holds versions and the log, but no secret, no name and no text of a conversation', async () => {
    await record('Private words.')
    await inspan(['threads'])
    const env = { USER: 'somebody-real', SOME_API_KEY: 'abcdefgh12345' }
    await inspan(['export', 'abcdefgh12345'], env)
    const { out } = await inspan(['report', '--json'], env)
    const report = JSON.parse(out) as { inspan: string; node: string; log: string[] }
    assert.equal(report.node, process.version)
    assert.match(report.log.join('\n'), /threads ended with 0\n.*export failed: not-found/)
    for (const secret of ['somebody-real', 'abcdefgh12345', 'Private words', folder]) {
      assert.ok(!out.includes(secret), `${secret} is in ${out}`)
    }
  })
})

suite('inspan completion', () => {
  test('completes commands, options and coding agents in a real bash', async () => {
    const { out } = await inspan(['completion', 'bash'])
    const complete = (...words: readonly string[]): string => {
      const typed = words.map((word) => `'${word}'`).join(' ')
      const script = `${out}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _inspan; echo "\${COMPREPLY[@]}"`
      const ran = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
      assert.equal(ran.status, 0, ran.stderr)
      return ran.stdout.trim()
    }
    assert.equal(complete('inspan', 'com'), 'compare completion')
    assert.equal(complete('inspan', 'run', '--max'), '--max-cost')
    assert.equal(complete('inspan', 'run', '--harness', 'claude'), 'claude-code')
  })

  test('has a script for zsh and fish that names every command', async () => {
    for (const shell of ['zsh', 'fish']) {
      const { code, out } = await inspan(['completion', shell])
      assert.equal(code, 0)
      for (const name of ['run', 'chat', 'compare', 'export', 'data']) assert.match(out, new RegExp(`\\b${name}\\b`))
    }
    assert.equal((await inspan(['completion', 'tcsh'])).code, 2)
  })
})
