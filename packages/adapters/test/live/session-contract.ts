/** What a live session of any CLI does alike, tested with a stand-in for the CLI. */
import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { InspanError } from '@inspan/protocol'
import type { AgentDriver, AgentSession, Binding, Turn } from '@inspan/protocol/driver'
import type { Dialect } from '../../src/kit/mapper.ts'
import type { PrintOptions } from '../../src/launch/print-driver.ts'
import { normalize } from '../../src/launch/normalize.ts'
import { aTurn } from '../launch/diary.ts'
import { scratch, survivors } from '../launch/stand-in.ts'
import { aMessage, APPROVE, finishOf, says, take, textOf, type LiveHost, type Taking } from './live-host.ts'

export interface SessionStage {
  readonly dir: string
  readonly host: LiveHost
  readonly session: AgentSession
  readonly run: (more?: Partial<Turn>) => Taking
}

/** Opens a session. Nothing of it is left after the test. */
export async function openStage(
  t: TestContext,
  dir: string,
  driver: AgentDriver,
  { host, binding }: { readonly host: LiveHost; readonly binding: Binding | null },
): Promise<SessionStage> {
  const session = await driver.open(binding, host.host)
  t.after(async () => {
    await session.close()
    assert.equal(await survivors(host), 0)
  })
  return { dir, host, session, run: (more) => take(session.run({ ...aTurn, ...more }), host) }
}

/** A CLI, and the program texts that make its stand-in do these things. */
export interface LiveSessionCli {
  readonly agentId: string
  readonly dialect: Dialect
  /** Opens a session with a stand-in that executes the body in every turn. */
  readonly stage: (t: TestContext, body: string, options?: Pick<PrintOptions, 'record'>) => Promise<SessionStage>
  /** Asks to run `touch a`, and then does. A promise. */
  readonly touch: string
  /** Prints a record of a type that does not exist. */
  readonly unknownRecord: string
  /** Matches a line that the stand-in prints, and no other text that is parsed. */
  readonly isRecord: RegExp
  /** Returns the answers that the stand-in got to its questions. */
  readonly answersIn: (dir: string) => Promise<readonly unknown[]>
}

export function testLiveSession({
  agentId,
  answersIn,
  dialect,
  isRecord,
  stage,
  touch,
  unknownRecord,
}: LiveSessionCli): void {
  describe('a question of any CLI', () => {
    it('has our own name and its arguments, so that it is recognised when it is asked again', async (t) => {
      const { dir, host, run } = await stage(t, `await ${touch}`)
      const turn = run()
      const { request, answer } = await host.nextAsk()
      const { toolCallId, ...subject } = request.subject
      assert.deepEqual(subject, { agentId, toolName: 'execute_command', args: { command: 'touch a' } })
      assert.deepEqual([request.kind, request.resumable, request.payload?.['cwd']], ['approval', true, dir])
      const announced = await turn.until(({ type }) => type === 'tool-approval-request')
      assert.equal(announced.type === 'tool-approval-request' && announced.toolCall.toolCallId, toolCallId)
      answer(APPROVE)
      await turn.all
    })

    it('accepts no answer once the CLI has withdrawn it', async (t) => {
      const { dir, host, run, session } = await stage(
        t,
        `void ${touch}; await t.steered(); t.withdraw(); t.say('withdrawn'); await t.steered()`,
      )
      const turn = run()
      const ask = await host.nextAsk()
      await session.steer?.(aMessage('m1', 'never mind'))
      await turn.until(says('withdrawn'))
      ask.answer(APPROVE)
      await session.steer?.(aMessage('m2', 'go on'))
      assert.equal(finishOf(await turn.all), 'stop')
      assert.ok(host.activity.some((event) => event.type === 'warning' && event.code === 'late-answer'))
      assert.deepEqual(await answersIn(dir), [])
    })
  })

  describe('a session of any CLI', () => {
    it('parses each line once, for events, limits and answers', async (t) => {
      const parse = t.mock.method(JSON, 'parse')
      const { host, run } = await stage(t, `await ${touch}; t.say('here'); t.say('and there')`)
      const turn = run()
      ;(await host.nextAsk()).answer(APPROVE)
      assert.equal(finishOf(await turn.all), 'stop')
      const times = Map.groupBy(parse.mock.calls, ({ arguments: [text] }) => text)
      const records = [...times].filter(([text]) => isRecord.test(text))
      assert.ok(records.length > 8, `${records.length} different lines`)
      for (const [text, calls] of records) assert.equal(calls.length, 1, text)
    })

    it('keeps lines that it does not understand, and continues the turn', async (t) => {
      const { host, run } = await stage(
        t,
        `t.raw('Loading…\\n{"half":\\n'); ${unknownRecord}; t.raw('no newline'); await ${touch}; t.say('still here')`,
      )
      const turn = run()
      const ask = await host.nextAsk()
      ask.answer(APPROVE)
      const events = await turn.all
      assert.deepEqual([finishOf(events), textOf(events)], ['stop', 'still here'])
      const unknown = host.activity.flatMap((event) => (event.type === 'unknown' ? [event.raw] : []))
      assert.equal(unknown.length, 4)
      assert.deepEqual([unknown[0], unknown[1], unknown[3]], ['Loading…', '{"half":', 'no newline'])
    })

    it('delivers a message within the turn that it arrives in', async (t) => {
      const { run, session } = await stage(t, `t.say('working'); t.say('heard ' + (await t.steered()))`)
      const turn = run()
      await turn.until(says('working'))
      assert.equal(await session.steer?.(aMessage('m1', 'hurry')), 'injected')
      assert.equal(textOf(await turn.all), 'working|heard hurry')
    })

    it('refuses a message before, between and after turns, so that the next turn can take it', async (t) => {
      const { run, session } = await stage(t, `t.say('here')`)
      const refuses = (): Promise<void> =>
        assert.rejects(
          async () => session.steer?.(aMessage('m1', 'hello?')),
          (error) => InspanError.is(error) && error.code === 'conflict',
        )
      await refuses()
      await run().all
      await refuses()
    })

    it('is recorded so that a replay has the same activity', async (t) => {
      const records = await scratch(t)
      const { host, run } = await stage(t, `await ${touch}; t.say('Done.')`, {
        record: ({ turnId }) => ({ dir: join(records, turnId) }),
      })
      const turn = run()
      const ask = await host.nextAsk()
      ask.answer(APPROVE)
      await turn.all
      const lines = createInterface({ input: createReadStream(join(records, aTurn.turnId, 'raw.jsonl')) })
      const again: string[] = []
      for await (const event of normalize(lines, { dialects: [dialect] })) again.push(JSON.stringify(event))
      const recorded = await readFile(join(records, aTurn.turnId, 'events.jsonl'), 'utf8')
      assert.equal(`${again.join('\n')}\n`, recorded)
    })
  })
}
