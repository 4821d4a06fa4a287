// In a real terminal: tmux.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Agent, createTool, Harness, MemoryStore } from '@inspan/core'
import type { JsonValue } from '@inspan/protocol'
import { serve, type InspanServer } from '@inspan/server'
import { scriptedModel, startProvider } from '@inspan/testing'
import { TmuxTerminal } from './tmux.fixture.ts'

type Script = Parameters<typeof scriptedModel>[0]

/** A served agent with a tool that runs until it is released. */
async function startServer(script: Script) {
  const released = Promise.withResolvers<string>()
  const work = createTool({ id: 'work', description: 'Works.', category: 'read', execute: () => released.promise })
  const agent = new Agent({ id: 'me', model: scriptedModel(script), tools: [work] })
  const permissions = { categories: { read: 'allow' } } as const
  const modes = [{ id: 'build' }]
  const harness = new Harness({ id: 'chat', agent, modes, storage: new MemoryStore(), permissions })
  const server = await serve({ harness })
  return {
    server,
    release: released.resolve,
    [Symbol.asyncDispose]: async () => {
      released.resolve('released')
      await server.close()
      await harness.destroy()
    },
  }
}

/** Opens a terminal with a chat that is connected to the server. */
async function chatWith({ server }: { readonly server: InspanServer }, env = {}): Promise<TmuxTerminal> {
  const terminal = new TmuxTerminal()
  terminal.chat(['--connect', server.url], { INSPAN_TOKEN: server.token, ...env })
  await terminal.shows(/Type a message/)
  return terminal
}

async function startWork(terminal: TmuxTerminal): Promise<void> {
  terminal.type('Work')
  terminal.press('Enter')
  await terminal.shows(/… work[^]*Esc interrupts/)
}

const WORK = { text: 'I will work.', toolCalls: [{ name: 'work', input: {} }] }

describe('inspan chat in a terminal', { timeout: 120_000 }, () => {
  it('takes a new user from the first start to a second prompt and back to the shell', async () => {
    using terminal = new TmuxTerminal(['notes.txt', 'plan.txt'])
    terminal.chat([])
    await terminal.shows(/Type a message/)
    terminal.type('What is here?')
    terminal.press('Enter')
    const asked = await terminal.shows(/y allow once/)
    assert.match(asked, /> What is here\?[^]*Let me look at this folder\.[^]*Allow list_files\?/)
    terminal.press('y')
    await terminal.shows(/✓ list_files[^]*There are 2 entries here: notes\.txt, plan\.txt\./)
    terminal.type('And again?')
    terminal.press('Enter')
    await terminal.shows(/> And again\?[^]*y allow once/)
    terminal.press('n')
    await terminal.shows(/✗ list_files \. \(denied\)/)
    terminal.type('/quit')
    terminal.press('Enter')
    const left = await terminal.shows(/left with 0\n[^]*echo/)
    assert.match(left, /^icanon$/m)
    assert.match(left, /^echo$/m)
  })

  it('leaves what waits as it is, and continues with it when asked to', async () => {
    using terminal = new TmuxTerminal(['notes.txt'])
    terminal.chat([])
    await terminal.shows(/Type a message/)
    terminal.type('Remember me')
    terminal.press('Enter')
    await terminal.shows(/y allow once/)
    terminal.press('C-c', 'C-c')
    await terminal.shows(/left with 0/)
    terminal.chat(['--continue'])
    await terminal.shows(/> Remember me[^]*Allow list_files\?[^]*y allow once/)
    terminal.press('y')
    await terminal.shows(/✓ list_files[^]*entry here: notes\.txt/)
    // What was said before is found again.
    terminal.press('Up')
    await terminal.shows(/^Remember me *$/m)
  })

  it('steers and queues while the agent works', async () => {
    await using bench = await startServer([WORK, { text: 'Heard **you**.' }, { text: 'Queued one done.' }])
    using terminal = await chatWith(bench)
    await startWork(terminal)
    terminal.type('Later this')
    terminal.press('M-Enter')
    await terminal.shows(/queued: Later this/)
    terminal.type('Now this')
    terminal.press('Enter')
    await terminal.shows(/queued: Now this/)
    bench.release('released')
    await terminal.shows(/> Now this[^]*Heard you\.[^]*> Later this[^]*Queued one done\./)
  })

  it('interrupts a run with Esc and stays usable', async () => {
    await using bench = await startServer([WORK, { text: 'Fresh start.' }])
    using terminal = await chatWith(bench)
    await startWork(terminal)
    terminal.press('Escape')
    bench.release('released')
    await terminal.shows(/^(?![^]*Esc interrupts)/)
    terminal.type('Again')
    terminal.press('Enter')
    await terminal.shows(/Fresh start\./)
  })

  it('keeps what tools print from the terminal, fits a new size, and uses no colour if asked', async () => {
    await using bench = await startServer([
      WORK,
      { text: ['# Done\n\n', 'word '.repeat(30), '\x1b]0;evil\x07\x1b[2Jend'] },
    ])
    bench.release('a\x1b[2J\x1b[31mred')
    using terminal = await chatWith(bench, { NO_COLOR: '1' })
    terminal.type('Work')
    terminal.press('Enter')
    await terminal.shows(/✓ work\n {2}ared\n[^]*Done[^]*end/)
    terminal.resize(40, 40)
    // The terminal itself breaks the lines that are there, until the chat has drawn them again.
    await terminal.shows(/✓ work[^]*^(word ?){7,8}$[^]*^─{40}$/m)
    // 30 to 37 choose a colour of text, 39 none.
    assert.doesNotMatch(terminal.screen(['-e']), /\[[0-9;]*3[0-7]m/)
  })

  it('completes slash commands and switches threads', async () => {
    await using bench = await startServer([{ text: 'One.' }, { text: 'Two.' }])
    using terminal = await chatWith(bench)
    terminal.type('First')
    terminal.press('Enter')
    await terminal.shows(/One\./)
    terminal.type('/ne')
    await terminal.shows(/→ new/)
    terminal.press('Enter')
    await terminal.shows(/This is a new thread/)
    terminal.type('Second')
    terminal.press('Enter')
    await terminal.shows(/Two\./)
    terminal.type('/threads ')
    terminal.press('Escape')
    terminal.press('Enter')
    await terminal.shows(/\* +1 +Second\n +2 +First/)
    terminal.type('/threads 2')
    terminal.press('Escape')
    terminal.press('Enter')
    await terminal.shows(/> First[^]*One\./)
  })

  it('takes several lines, finds earlier messages with Up, and copies an answer', async () => {
    await using bench = await startServer([{ text: 'First **answer**.' }, { text: 'Second answer.' }])
    using terminal = await chatWith(bench)
    terminal.type('one')
    terminal.press('C-j')
    terminal.type('two')
    terminal.press('Enter')
    await terminal.shows(/> one\n {2}two\n[^]*First answer\./)
    terminal.type('/copy')
    terminal.press('Enter')
    await terminal.shows(/Copied/)
    assert.equal(terminal.clipboard(), 'First **answer**.')
    // The newest is the command.
    terminal.press('Up', 'Up')
    await terminal.shows(/^one *\ntwo *$/m)
    terminal.press('Enter')
    await terminal.shows(/First answer\.[^]*> one\n {2}two\n[^]*Second answer\./)
  })

  it('draws a stream without clearing the screen, and marks links', async () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index} `)
    await using bench = await startServer([
      { text: [...words, 'See [the page](https://example.org/page).'], delayPerDeltaMs: 10 },
    ])
    using terminal = new TmuxTerminal()
    terminal.chat(['--connect', bench.server.url], { INSPAN_TOKEN: bench.server.token, PI_HYPERLINKS: '1' })
    await terminal.shows(/Type a message/)
    const recorded = terminal.record()
    terminal.type('Speak')
    terminal.press('Enter')
    await terminal.shows(/word0 [^]*See the page\.[^]*$/)
    const sent = recorded()
    const frames = sent.split('␛[?2026h').length - 1
    assert.ok(frames > 5, `${frames} frames`)
    // Between the marks of a frame the terminal shows nothing half-drawn.
    assert.equal(sent.split('␛[?2026l').length - 1, frames)
    assert.doesNotMatch(sent, /␛\[[23]?J|␛c/)
    assert.match(sent, /␛\]8;;https:\/\/example\.org\/page(?:␇|␛\\)/)
  })

  it('reports what the agent does to a terminal that has answered that it listens', async () => {
    await using bench = await startServer([WORK, { text: 'Said.' }])
    using terminal = new TmuxTerminal()
    terminal.chat(['--connect', bench.server.url], { INSPAN_TOKEN: bench.server.token })
    await terminal.shows(/Type a message/)
    const recorded = terminal.record()
    const answer = [...Buffer.from('\x1b]7501;1\x1b\\')].map((byte) => byte.toString(16).padStart(2, '0'))
    terminal.press('-H', ...answer)
    terminal.type('Speak')
    terminal.press('Enter')
    await terminal.shows(/Esc interrupts/)
    bench.release('released')
    await terminal.shows(/Said\./)
    const told = [...recorded().matchAll(/␛\]7501;([a-z;]+)␇/g)].map(([, status]) => status)
    assert.deepEqual(told.slice(0, 2), ['idle', 'working'])
  })

  it('uses no colour on a dumb terminal', async () => {
    await using bench = await startServer([{ text: '# Title\n\n`code` and **words**' }])
    using terminal = new TmuxTerminal()
    terminal.chat(['--connect', bench.server.url], { INSPAN_TOKEN: bench.server.token, TERM: 'dumb' })
    await terminal.shows(/Type a message/)
    const recorded = terminal.record()
    terminal.type('Speak')
    terminal.press('Enter')
    await terminal.shows(/code and words/)
    assert.doesNotMatch(recorded(), /␛\[(?:[0-9]+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]/)
  })

  it('completes names of files after an @', async () => {
    await using bench = await startServer([{ text: 'Read.' }])
    using terminal = new TmuxTerminal(['notes.txt', 'plan.txt'])
    terminal.chat(['--connect', bench.server.url], { INSPAN_TOKEN: bench.server.token })
    await terminal.shows(/Type a message/)
    terminal.type('Read @no')
    await terminal.shows(/→ notes\.txt/)
    terminal.press('Tab')
    await terminal.shows(/^Read @notes\.txt *$/m)
    terminal.press('Enter')
    await terminal.shows(/> Read @notes\.txt[^]*Read\./)
  })

  it('runs our own loop with tools that work in the current folder', async () => {
    const input = { path: 'made.txt', content: 'by hand' }
    await using provider = await startProvider([
      { text: 'I write it.', toolCalls: [{ name: 'write_file', input }] },
      { text: 'It is there.' },
    ])
    using terminal = new TmuxTerminal()
    const env = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: `${provider.url}/v1` }
    terminal.chat(['--model', 'anthropic/claude-sonnet-4-5'], env)
    await terminal.shows(/Type a message/)
    terminal.type('Make it')
    terminal.press('Enter')
    await terminal.shows(/Allow write_file\?[^]*\+ by hand[^]*y allow once/)
    terminal.press('y')
    await terminal.shows(/✓ write_file made\.txt[^]*It is there\./)
    assert.equal(readFileSync(join(terminal.folder, 'made.txt'), 'utf8'), 'by hand')
  })

  it('answers questions and plans with keys and text', async () => {
    const options = [{ label: 'red' }, { label: 'blue', description: 'cold' }]
    const call = (name: string, input: Record<string, JsonValue>) => ({ toolCalls: [{ name, input }] })
    await using bench = await startServer([
      call('ask_user', { question: 'Which colour?', options }),
      call('ask_user', { question: 'Which of them?', options, selectionMode: 'multi_select' }),
      call('ask_user', { question: 'Which name?' }),
      call('submit_plan', { title: 'Paint', plan: '1. **Paint** it' }),
      { text: 'All answered.' },
    ])
    using terminal = await chatWith(bench)
    terminal.type('Ask')
    terminal.press('Enter')
    await terminal.shows(/Which colour\?\n {2}1 red\n {2}2 blue: cold[^]*1–9 answer/)
    terminal.press('2')
    await terminal.shows(/User answered: blue[^]*1–9 choose/)
    terminal.press('1', '2')
    await terminal.shows(/1 \[x\] red\n {2}2 \[x\] blue/)
    terminal.press('Enter')
    await terminal.shows(/User answered: red, blue[^]*Type your answer/)
    terminal.type('Ada')
    terminal.press('Enter')
    await terminal.shows(/User answered: Ada[^]*Approve this plan\? Paint\n\n1\. Paint it[^]*y approve/)
    terminal.press('y')
    await terminal.shows(/✓ submit_plan[^]*All answered\./)
  })

  it('restores the terminal when a signal ends it', async () => {
    await using bench = await startServer([])
    using terminal = await chatWith(bench)
    terminal.signal('SIGTERM')
    assert.match(await terminal.shows(/left with 143\n[^]*echo/), /^icanon\necho$/m)
  })

  it('explains why it cannot start: no server, wrong token, no key', async () => {
    await using bench = await startServer([])
    using terminal = new TmuxTerminal()
    terminal.chat(['--connect', 'http://127.0.0.1:1'])
    await terminal.shows(/No server can be reached at http:\/\/127\.0\.0\.1:1\.[^]*left with 1/)
    terminal.chat(['--connect', bench.server.url], { INSPAN_TOKEN: 'wrong' })
    await terminal.shows(/refused[^]*left with 1/)
    terminal.chat(['--model', 'anthropic/claude-sonnet-4-5'], { ANTHROPIC_API_KEY: '' })
    await terminal.shows(/There is no key for "anthropic[^]*left with 1/)
  })
})
