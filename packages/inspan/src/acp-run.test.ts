import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { commandWords } from './acp-run.ts'
import { capturedMain, type CapturedRun } from './captured-main.fixture.ts'

/** Speaks the protocol: asks to read, to edit and to run a command, and says what it was allowed to do. */
const PROGRAM = `#!${process.execPath}
import { createInterface } from 'node:readline'
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const update = (update) => send({ method: 'session/update', params: { sessionId: 's', update } })
const waiting = new Map()
let lastId = 100
const ask = (kind, rawInput) => new Promise((resolve) => {
  const id = ++lastId
  waiting.set(id, resolve)
  const options = [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ]
  const toolCall = { toolCallId: 'c' + id, kind, title: kind, rawInput }
  send({ id, method: 'session/request_permission', params: { sessionId: 's', toolCall, options } })
})
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, result } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  else if (method === 'session/new') send({ id, result: { sessionId: 's' } })
  else if (method === 'session/prompt') {
    void (async () => {
      const said = []
      for (const [kind, input] of [['read', { path: 'a' }], ['edit', { path: 'a' }], ['execute', { command: 'make' }]]) {
        const { outcome } = await ask(kind, input)
        said.push(kind + ' ' + (outcome.optionId ?? outcome.outcome))
      }
      const text = said.join(', ') + ' ' + process.argv.slice(2).join('|')
      update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
      send({ id, result: { stopReason: 'end_turn' } })
    })()
  } else if (method === undefined) waiting.get(id)?.(result)
}
`

let folder = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspan acp '))
  await writeFile(join(folder, 'agent.mjs'), PROGRAM)
  await chmod(join(folder, 'agent.mjs'), 0o755)
})
after(() => rm(folder, { recursive: true, maxRetries: 5 }))

function inspan(...args: string[]): Promise<CapturedRun> {
  const env = { INSPAN_HOME: join(folder, 'home'), PATH: process.env['PATH'] ?? '' }
  return capturedMain(args, { cwd: folder, env })
}

suite('inspan run --acp', () => {
  for (const [level, said, exitCode] of [
    ['read-only', 'read yes, edit no, execute no', 4],
    ['edit', 'read yes, edit yes, execute no', 4],
    ['full', 'read yes, edit yes, execute yes', 0],
  ] as const) {
    test(`runs any agent, which may do what the level allows: ${level}`, async () => {
      const command = `"${join(folder, 'agent.mjs')}" --one 'two words'`
      const { code, err, out } = await inspan('run', 'Go', '--acp', command, '--permissions', level)
      assert.equal(code, exitCode, err)
      assert.ok(out.includes(`${said} --one|two words`), out)
    })
  }

  test('is refused with another agent, without a command, and for a program that is not there', async () => {
    const both = await inspan('run', 'Go', '--acp', 'agent', '--harness', 'codex')
    assert.match(both.err, /leave out --harness/)
    const none = await inspan('run', 'Go', '--acp', ' ')
    assert.match(none.err, /takes the command that starts the agent/)
    const gone = await inspan('run', 'Go', '--acp', `"${join(folder, 'none')}"`)
    assert.equal(gone.code, 1)
    assert.match(gone.err + gone.out, /none/)
  })
})

test('a command is split into words as a shell splits it', () => {
  for (const [line, words] of [
    ['gemini --acp', ['gemini', '--acp']],
    [`  a  "b c" d'e f'g  `, ['a', 'b c', 'de fg']],
    [`a\\ b "c\\"d" '\\e' ""`, ['a b', 'c"d', '\\e', '']],
  ] as const) {
    assert.deepEqual(commandWords(line), words)
  }
  assert.throws(() => commandWords('a "b'), /not closed/)
})
