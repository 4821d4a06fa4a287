import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { AgentEvent, JsonValue } from '@inspan/protocol'
import { Renderer } from './render.ts'

function shown(...events: readonly AgentEvent[]): string {
  let out = ''
  const renderer = new Renderer({ out: (line) => (out += `${line}\n`), write: (text) => (out += text) })
  for (const event of events) renderer.show(event)
  return out
}

const call = { toolCallId: 'c', toolName: 'tool' } as const
const result = (said: JsonValue): string => shown({ type: 'tool-result', ...call, result: said })

test('texts printed at different times are on separate lines', () => {
  const said = (text: string, partId?: string): AgentEvent => ({
    type: 'text-delta',
    text,
    messageId: 'm',
    ...(partId === undefined ? {} : { partId }),
  })
  assert.equal(shown(said('On'), said('e.')), 'One.')
  assert.equal(shown(said('On', '0'), said('e.', '0'), said('', '0'), said('Two.', '1')), 'One.\nTwo.')
  assert.equal(shown(said('One.\n', '0'), said('Two.', '1')), 'One.\nTwo.')
})

suite('the line of a tool call', () => {
  test('shows its arguments, without whole files', () => {
    const args = { path: 'a.txt', content: 'word '.repeat(10_000), nested: [{ text: 'x'.repeat(5_000) }] }
    const out = shown({ type: 'tool-call', ...call, args })
    assert.match(out, /^→ tool \{"path":"a\.txt","content":"word /)
    assert.ok(out.length < 1_000)
  })

  test('shows a long command in full', () => {
    const command = 'x'.repeat(250)
    assert.equal(shown({ type: 'tool-call', ...call, args: { command } }), `→ tool {"command":"${command}"}\n`)
  })

  test('shows the exit code of a failed command', () => {
    const timestamp = '2026-01-01T00:00:00.000Z'
    const failed = { type: 'command', command: 'false', exitCode: 3, isSuccess: false, timestamp } as const
    const activity = { mapper: 'codex', version: 1, events: [failed] }
    const out = shown({ type: 'tool-result', ...call, result: 'bad', isError: true, activity })
    assert.equal(out, '✗ tool (exit 3) bad\n')
  })

  test('shows its output, also if that comes in blocks', () => {
    const blocks = [
      { type: 'text', text: 'one\n' },
      { type: 'text', text: 'two' },
    ]
    assert.equal(result(blocks), '✓ tool one ⏎ two\n')
    assert.equal(result({ content: blocks, details: {} }), '✓ tool one ⏎ two\n')
    assert.equal(
      result({ content: [{ type: 'image', data: 'x' }] }),
      '✓ tool {"content":[{"type":"image","data":"x"}]}\n',
    )
    assert.equal(result([]), '✓ tool []\n')
    assert.equal(result({ exitCode: 0, stdout: 'one\n', stderr: 'two' }), '✓ tool one ⏎ two\n')
  })
})
