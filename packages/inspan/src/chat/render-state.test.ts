import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ClientState } from '@inspan/client'
import { applyFrame, emptyState, emptyView, reduce } from '@inspan/protocol/log'
import { toHarnessState, type WireMessage } from '@inspan/protocol/wire'
import fc from 'fast-check'
import type { Block } from './block.ts'
import { activityLines, messageBlocks, statusLine } from './render-state.ts'

function message(fields: Partial<WireMessage>): WireMessage {
  return { id: 'm', role: 'assistant', content: '', status: 'complete', createdAt: 0, ...fields }
}

function textOf(blocks: readonly Block[]): string {
  return blocks
    .map((block) => (block.type === 'markdown' ? block.text : block.lines.map(({ text }) => text).join('\n')))
    .join('\n')
}

function state(fields: Partial<ClientState>): ClientState {
  const { head } = emptyView('t')
  return { status: 'idle', messages: [], thread: 't', head, connection: 'open', pending: [], refused: [], ...fields }
}

suite('a message', () => {
  test('a message of the agent is Markdown, and one of the user is marked', () => {
    assert.deepEqual(messageBlocks(message({ content: '**Hi**' }), false), [{ type: 'markdown', text: '**Hi**' }])
    assert.equal(textOf(messageBlocks(message({ role: 'user', content: 'one\ntwo' }), false)), '> one\n  two')
  })

  test('a compaction is a line of its own, where it happened', () => {
    const data = { messages: 12, tokensBefore: 34_000, tokensAfter: 2100 }
    const part = { id: '0', type: 'signal', kind: 'compaction', text: '', data } as const
    const body = { type: 'message.added', messageId: 'm', role: 'system', parts: [part] } as const
    const reduced = reduce(emptyState('t'), { v: 1, stream: 't', seq: 1, at: 0, body })
    const view = applyFrame(emptyView('t'), { type: 'delta', seq: 1, operations: reduced.ops })
    const shown = toHarnessState(view).messages.flatMap((each) => messageBlocks(each, false))
    assert.equal(textOf(shown), '* 12 earlier messages were summarised for the agent: 34,000 tokens became 2,100.')
  })

  test('shows a call in one line, with the end of its output folded', () => {
    const output = 'first\nlast\n'
    const call = { id: 'c', name: 'shell', status: 'complete', input: { command: 'ls\npwd' }, output } as const
    const shown = message({ toolCalls: [call] })
    assert.equal(textOf(messageBlocks(shown, false)), '✓ shell ls\n  last (2 lines, Ctrl+O unfolds)')
    assert.equal(textOf(messageBlocks(shown, true)), '✓ shell ls\n  first\n  last')
  })

  test('shows the text of a result that wraps it', () => {
    const wrapped = {
      id: 'c',
      name: 'ask',
      status: 'complete',
      output: '{"content":"He said \\u001b[2Jyes","isError":false}',
    } as const
    assert.equal(textOf(messageBlocks(message({ toolCalls: [wrapped] }), false)), '✓ ask\n  He said yes')
    const cut = { ...wrapped, output: '{"content":"He sa' }
    assert.equal(textOf(messageBlocks(message({ toolCalls: [cut] }), false)), '✓ ask\n  {"content":"He sa')
  })

  test('unfolds only the end of a very long output, and reports it', () => {
    const output = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join('\n')
    const call = { id: 'c', name: 'shell', status: 'running', output } as const
    const shown = textOf(messageBlocks(message({ toolCalls: [call] }), true)).split('\n')
    assert.deepEqual(shown.slice(0, 3), ['… shell', '  … 800 lines before', '  line 800'])
    assert.equal(shown.at(-1), '  line 999')
  })

  test('shows of a call that it waits, failed or was denied', () => {
    const textFor = (status: 'awaiting-approval' | 'error' | 'denied'): string =>
      textOf(messageBlocks(message({ toolCalls: [{ id: 'c', name: 'x', status }] }), false))
    assert.equal(textFor('awaiting-approval'), '? x (waits for you)')
    assert.equal(textFor('error'), '✗ x (failed)')
    assert.equal(textFor('denied'), '✗ x (denied)')
  })

  test('folds reasoning to one line', () => {
    const shown = message({ reasoning: 'First this.\nThen that.' })
    assert.equal(textOf(messageBlocks(shown, false)), 'Thinking: First this.')
    assert.equal(textOf(messageBlocks(shown, true)), 'First this.\nThen that.')
  })

  test('never carries a control sequence, whatever agents and tools print', () => {
    const hostile = fc.array(fc.constantFrom('\x1b', ']', '[', '2J', '0;title', '\x07', '\x9b', 'a', '\n', '\u202e'))
    const text = hostile.map((pieces) => pieces.join(''))
    const property = fc.property(text, text, text, fc.boolean(), (content, output, name, isUnfolded) => {
      const toolCalls = [{ id: 'c', name, status: 'complete', input: { command: content }, output }] as const
      const shown = textOf(messageBlocks(message({ content, reasoning: output, toolCalls }), isUnfolded))
      assert.doesNotMatch(shown, /(?!\n)[\p{Cc}\u202e]/u)
    })
    fc.assert(property)
  })
})

suite('below the messages', () => {
  test('a run can be interrupted, and an error is shown', () => {
    assert.deepEqual(activityLines(state({})), [])
    assert.deepEqual(activityLines(state({ status: 'running' })), [
      { text: 'Working… Esc interrupts.', tone: 'accent' },
    ])
    assert.deepEqual(activityLines(state({ status: 'error', error: 'No\x1b[2J key.' })), [
      { text: '! No key.', tone: 'bad' },
    ])
  })

  test('the last line names the thread, mode and model', () => {
    const head = { ...emptyView('t').head, title: 'Fix it', mode: 'build', model: 'a/b' }
    assert.equal(statusLine(state({ head })).text, 'Fix it · build · a/b · /help')
    assert.equal(statusLine(state({})).text, 'new thread · /help')
  })

  test('the last line shows what it has cost, and whether that is an estimate', () => {
    const shown = (costUsd: number, estimatedUsd: number): string => {
      const { head } = emptyView('t')
      const own = { ...head.usage.own, inputTokens: 1000, costUsd, estimatedUsd }
      return statusLine(state({ head: { ...head, usage: { ...head.usage, own } } })).text
    }
    assert.equal(shown(0.25, 0), 'new thread · 1,000 tokens · $0.2500 billed · /help')
    assert.equal(shown(0.25, 0.25), 'new thread · 1,000 tokens · $0.2500 estimated · /help')
  })

  test('the last line shows when there is no connection, and why', () => {
    const shown = statusLine(state({ connection: 'waiting', problem: 'closed (1006)' }))
    assert.deepEqual(shown, { text: 'Not connected, trying again (closed (1006))', tone: 'bad' })
  })
})
