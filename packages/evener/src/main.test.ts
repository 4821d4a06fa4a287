import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Terminal } from './command.ts'
import { main } from './main.ts'

let folder = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evener-command-'))
  await writeFile(join(folder, 'notes.txt'), '')
})
after(() => rm(folder, { recursive: true }))

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function evener(...args: string[]): Promise<Ran> {
  let out = ''
  let err = ''
  const terminal: Terminal = {
    out: (text) => (out += `${text}\n`),
    write: (text) => (out += text),
    err: (text) => (err += `${text}\n`),
    isTty: false,
    cwd: folder,
    env: { EVENER_HOME: join(folder, 'home') },
  }
  const code = await main(args, terminal)
  return { code, out, err }
}

function threadIn(text: string): string {
  const id = /evener replay (\S+)/.exec(text)?.[1]
  assert.ok(id !== undefined, text)
  return id
}

suite('evener run', () => {
  test('streams an answer with a tool call, keeps it, and replay shows it again', async () => {
    const ran = await evener('run', 'What is here?')
    assert.equal(ran.code, 0)
    assert.match(ran.out, /→ list_files \{"path":"\."\}/)
    assert.match(ran.out, /✓ list_files .*notes\.txt/)
    assert.match(ran.out, /I see .*notes\.txt/)
    const replayed = await evener('replay', threadIn(ran.err))
    assert.equal(replayed.code, 0)
    assert.equal(replayed.out, `> What is here?\n${ran.out}`)
  })

  test('goes on with a thread', async () => {
    const thread = threadIn((await evener('run', 'First')).err)
    assert.equal((await evener('run', '--thread', thread, 'Second')).code, 0)
    const { out } = await evener('replay', thread)
    assert.deepEqual(
      out.split('\n').filter((line) => line.startsWith('> ')),
      ['> First', '> Second'],
    )
  })

  test('--json prints one event per line, from one start to one finish', async () => {
    const { out, code } = await evener('run', '--json', 'What is here?')
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

  test('--demo makes up the question', async () => {
    assert.equal((await evener('run', '--demo')).code, 0)
  })
})

suite('used wrongly', () => {
  const cases: [string, string[], number, RegExp][] = [
    ['no command', [], 2, /Usage: evener <command>/],
    ['an unknown command', ['fly'], 2, /there is no command "fly"/],
    ['nothing to do', ['run'], 2, /say what to do/],
    ['an unknown option', ['run', '--bogus', 'x'], 2, /--bogus/],
    ['an unknown thread to replay', ['replay', 'nope'], 1, /no thread "nope".*evener threads/],
    ['an unknown thread to go on with', ['run', '--thread', 'nope', 'x'], 1, /no thread/i],
    ['no thread to replay', ['replay'], 2, /name one thread/],
    ['a limit that is no number', ['threads', '--limit', 'many'], 2, /number from 1 to 1000/],
  ]
  for (const [what, args, code, message] of cases) {
    test(`${what}: says so and exits with ${code}`, async () => {
      const ran = await evener(...args)
      assert.equal(ran.code, code)
      assert.match(ran.out + ran.err, message)
      assert.doesNotMatch(ran.err, /at file:/, 'no stack for a mistake of the caller')
    })
  }

  test('a file that is not ours is refused and stays as it was', async () => {
    const file = join(folder, 'letter.txt')
    await writeFile(file, 'Dear Sir or Madam, this is not a database, but it is long enough to look like a file.')
    const { code, err } = await evener('run', '--db', file, 'x')
    assert.equal(code, 1)
    assert.match(err, /letter\.txt/)
  })
})

suite('help', () => {
  for (const command of ['run', 'replay', 'threads']) {
    test(`explains ${command}, asked either way`, async () => {
      const { out, code } = await evener('help', command)
      assert.equal(code, 0)
      assert.match(out, new RegExp(`Usage: evener ${command}`))
      assert.equal((await evener(command, '--help')).out, out)
    })
  }
})

test('evener threads lists the conversations of this folder, newest first', async () => {
  const older = threadIn((await evener('run', 'Older')).err)
  const newer = threadIn((await evener('run', 'Newer')).err)
  const { out } = await evener('threads', '--limit', '2')
  assert.deepEqual(
    out
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]),
    [newer, older],
  )
})
