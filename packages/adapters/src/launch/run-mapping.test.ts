import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MappedEvent } from '../kit/activity.ts'
import { codexDialect } from '../codex/mapper.ts'
import type { Dialect } from '../kit/mapper.ts'
import { opencodeDialect } from '../opencode/mapper.ts'
import { failure } from './run-failure.ts'
import { RunMapping } from './run-mapping.ts'
import type { StopReason } from './run-note.ts'

const ANSWER = '{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"a"}}'
const HINT = 'No key was found.'

/** Returns the error message of a run that was stopped. */
function failureOf(reason: StopReason, lines: readonly string[]): string | undefined {
  const events: MappedEvent[] = []
  const mapping = new RunMapping(codexDialect, { harness: 'codex', failureHint: HINT }, (event) => events.push(event))
  mapping.lines('stdout', lines, 1)
  mapping.note({ stop: { reason, error: failure(reason, 'It was stopped.') } }, 2)
  mapping.note({ end: { exitCode: null, signal: 'SIGTERM' } }, 3)
  return events.flatMap((event) => (event.type === 'error' ? [event.error.message] : [])).at(0)
}

describe('a run that was stopped because it took too long', () => {
  it('may be due to a missing key when no model has answered: some programs retry silently', () => {
    for (const reason of ['deadline', 'stalled'] as const)
      assert.equal(failureOf(reason, []), `It was stopped.\n${HINT}`)
  })

  it('is not due to a missing key when a model has answered', () => {
    assert.equal(failureOf('deadline', [ANSWER]), 'It was stopped.')
  })
})

describe('a run that failed because of ourselves', () => {
  it('does not mention keys', () => {
    assert.equal(failureOf('failed', []), 'It was stopped.')
  })
})

describe('a result', () => {
  const told = (dialect: Dialect, lines: readonly string[]): boolean => {
    const mapping = new RunMapping(dialect, { harness: dialect.id }, () => undefined)
    mapping.lines('stdout', lines, 1)
    return mapping.hasReportedResult(true)
  }
  const step = (type: string, part: object = {}): string =>
    JSON.stringify({ type, sessionID: 's', part: { id: '1', messageID: 'm', sessionID: 's', ...part } })

  it('is the end of the turn, as the program reports it', () => {
    assert.equal(told(codexDialect, [ANSWER]), false)
    assert.equal(told(codexDialect, [ANSWER, '{"type":"turn.completed"}']), true)
    assert.equal(told(codexDialect, ['{"type":"turn.failed","error":{"message":"no"}}']), true)
  })

  it('is the last model call where the program reports nothing more, unless that called a tool', () => {
    const started = step('step_start')
    assert.equal(told(opencodeDialect, [started]), false)
    assert.equal(told(opencodeDialect, [started, step('step_finish', { reason: 'tool-calls' })]), false)
    const stopped = [started, step('text', { text: 'a' }), step('step_finish', { reason: 'stop' })]
    assert.equal(told(opencodeDialect, stopped), true)
    assert.equal(told(opencodeDialect, [...stopped, started]), false)
  })

  it('stays the same, whatever the program prints while it is being ended', () => {
    const events: MappedEvent[] = []
    const mapping = new RunMapping(codexDialect, { harness: 'codex' }, (event) => events.push(event))
    mapping.lines('stdout', [ANSWER, '{"type":"turn.completed"}'], 1)
    mapping.note({ stop: { reason: 'lingering' } }, 2)
    mapping.line('stdout', '{"type":"error","message":"terminated"}', 3)
    mapping.note({ end: { exitCode: null, signal: 'SIGTERM' } }, 4)
    assert.ok(!events.some(({ type }) => type === 'error'))
    const said = events.flatMap((event) => (event.type === 'note' ? event.activity.events : []))
    assert.deepEqual(
      said.map((event) => event.type === 'warning' && event.message),
      ['terminated'],
    )
    const finish = events.at(-1)
    assert.equal(finish?.type === 'finish' && finish.finishReason, 'stop')
  })
})

describe('the hint that no key was found', () => {
  const errorOf = (message: string, before: readonly string[] = []): string | undefined => {
    const events: MappedEvent[] = []
    const mapping = new RunMapping(codexDialect, { harness: 'codex', failureHint: HINT }, (event) => events.push(event))
    const failed = JSON.stringify({ type: 'turn.failed', error: { message } })
    mapping.lines('stdout', [...before, failed], 1)
    mapping.note({ end: { exitCode: 1, signal: null } }, 2)
    return events.flatMap((event) => (event.type === 'error' ? [event.error.message] : [])).at(0)
  }

  it('is added to failures that may be about a key', () => {
    for (const message of [
      '401 Unauthorized',
      'Missing API key',
      'Please log in',
      'authentication_error',
      'Model not found: a/b',
      'ProviderModelNotFoundError',
      'API Error: 401 {"type":"error"}',
      'unexpected status 403',
      'Set OPENAI_API_KEY',
      'Invalid authentication credentials',
      'OAuth token has expired',
      'Please run /login',
      'You are not signed in.',
      'Forbidden',
      'Cannot connect to API: connect ECONNREFUSED',
    ]) {
      assert.equal(errorOf(message), `${message}\n${HINT}`)
    }
  })

  it('is not added to others, nor once a model has answered', () => {
    for (const message of [
      'The context is too long',
      'The author is unknown',
      'disk full',
      'FOREIGN KEY constraint failed',
      'Object.keys called on non-object',
      'SyntaxError: Unexpected token < in JSON, invalid at position 0',
      'the number of tokens is invalid',
      'main.ts:401 is not a function',
      'it took 403 ms',
      'the catalog index is damaged',
      'Logging in JSON failed',
      'logged 3 warnings',
      'the authority section is empty',
      'Cannot connect to MCP server "files"',
      'the path is forbidden by a rule',
      'blog info is missing',
    ]) {
      assert.equal(errorOf(message), message)
    }
    assert.equal(errorOf('401 Unauthorized', [ANSWER]), '401 Unauthorized')
  })
})
