/** The first hour of a user who installed the packages: tools, missing keys, approvals, and the command. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { acpProgram } from '../../packages/adapters/test/acp/acp-program.ts'
import { standInProgram } from '../../packages/adapters/test/live/stand-in-program.ts'
import { outsideEnvironment } from './run.ts'

export interface FirstHourPlace {
  readonly root: string
  /** A folder whose node_modules have the packages. */
  readonly consumer: string
  /** Returns the README's first program. */
  readonly firstProgram: () => string
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** What `foreign-approvals.mjs` prints. */
interface Question {
  readonly args?: object
  readonly description?: string
  readonly end?: string
  readonly results?: readonly boolean[]
}

export function testFirstHour({ consumer, firstProgram, root }: FirstHourPlace): void {
  const play = async (args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = consumer): Promise<Ended> => {
    const child = spawn(process.execPath, args, { cwd, env: { ...outsideEnvironment(), ...env } })
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { code: child.exitCode, out, err }
  }
  const playProgram = async (name: string): Promise<Ended> => {
    await cp(join(root, 'scripts/pack-test/programs', name), join(consumer, name))
    return play([name])
  }

  it('tools of the AI SDK and plain objects run with checked input, and events name their owner', async () => {
    const { code, err, out } = await playProgram('tools.mjs')
    assert.equal(code, 0, err)
    const told = JSON.parse(out) as Record<string, unknown> & { results: object; shown: string; refusals: string[] }
    assert.deepEqual(told.results, {
      c1: ['weather', false, 'sun in Rome'],
      c2: ['people', false, 'many in Rome'],
      c3: ['people', true, 'The input is not valid, so the tool was not run: missing city'],
      c4: ['run', false, 'ran rm a.txt'],
    })
    assert.deepEqual(told['homeless'], [], 'every event names its thread and session')
    assert.equal(told['sessions'], 2, 'the harness hears all its sessions')
    assert.equal((JSON.parse(told.shown) as { activeTools: { c1: { name: string } } }).activeTools.c1.name, 'weather')
    const { properties } = told['inputSchema'] as { properties: object }
    assert.deepEqual(properties, { city: { type: 'string' } }, 'the model sees the schema of the tool')
    assert.equal(told['policy'], 'ask', '`createPolicy` takes the rules of `permissions`')
    for (const refusal of told.refusals) assert.match(refusal, /tool "weather" is /i)
  })

  it('an approval shows the real command and the rule that asks', async () => {
    const { out } = await playProgram('tools.mjs')
    const { questions } = JSON.parse(out) as { questions: string[] }
    assert.equal(questions.length, 1)
    assert.match(questions[0] ?? '', /rm a\.txt.*ask run/)
  })

  const foreign = async (agent: 'claude-code' | 'codex' | 'acp', phase = ''): Promise<Question[]> => {
    const dir = join(consumer, `foreign-${agent}`)
    await mkdir(dir, { recursive: true })
    const bin =
      agent === 'claude-code'
        ? await standInProgram(dir, 'claude', `await t.tool('Bash', { command: 'rm a.txt', description: 'Tidies up' })`)
        : agent === 'codex'
          ? await standInProgram(dir, 'codex', `await t.command("/bin/bash -lc 'rm a.txt'")`)
          : await acpProgram(dir, `await t.ask('c1', { title: 'rm a.txt (Tidies up)', kind: 'execute' })`)
    const program = 'foreign-approvals.mjs'
    await cp(join(root, 'scripts/pack-test/programs', program), join(consumer, program))
    const { out, err } = await play([program, agent, bin, join(dir, 'data.db'), phase])
    const lines = out.split('\n').filter((line) => line !== '')
    assert.ok(lines.length > 0, err)
    return lines.map((line) => JSON.parse(line) as Question)
  }

  it('an approval of Claude Code or Codex shows the real command and the rule that asks', async () => {
    for (const agent of ['claude-code', 'codex'] as const) {
      const [question, end, ...others] = await foreign(agent)
      assert.deepEqual(question?.args, { command: 'rm a.txt' }, agent)
      assert.match(question.description ?? '', /^Run rm a\.txt: the rule `ask category execute`/)
      assert.doesNotMatch(JSON.stringify(question), /Tidies up/, 'words of the model are not shown instead')
      assert.deepEqual([end?.end, others], ['complete', []])
    }
  })

  it('an approval of another agent that sends no command shows its words as its own', async () => {
    const [question, end] = await foreign('acp')
    assert.match(question?.description ?? '', /^Run rm a\.txt \(Tidies up\): these are the agent’s own words/)
    assert.equal(end?.end, 'complete')
  })

  it('a call that is repeated after a restart and answered from the store asks nobody', async () => {
    const asked = await foreign('claude-code', 'ask')
    assert.deepEqual([asked.length, asked[0]?.args], [1, { command: 'rm a.txt' }], 'it was killed when it had asked')
    const [shown, end, ...others] = await foreign('claude-code', 'answer')
    assert.deepEqual(shown?.args, { command: 'rm a.txt' }, 'the open question is shown')
    assert.deepEqual([end?.end, end?.results?.at(-1), others], ['complete', false, []], 'the repeated call is not')
  })

  it("the README's program without a key prints what to do and fails", async () => {
    const program = firstProgram().replace(/scriptedModel\(\[.*\]\)/, "'anthropic/claude-sonnet-4-5'")
    await writeFile(join(consumer, 'no-key.ts'), program)
    const { code, err } = await play(['no-key.ts'], { ANTHROPIC_API_KEY: undefined })
    assert.match(err, /ANTHROPIC_API_KEY/)
    assert.notEqual(code, 0)
  })

  it('a program that waits for an approval nobody can give prints so once and fails', async () => {
    const { code, err } = await playProgram('nobody-answers.mjs')
    assert.equal(code, 1)
    assert.equal(err.match(/nothing is left to do but wait for an answer that nobody gives/g)?.length, 1)
    assert.doesNotMatch(err, /unsettled/i)
  })

  it('the command: models by name, did-you-mean, ends of thread ids, titles, local times, read-only files', async () => {
    const bin = join(consumer, 'node_modules/inspan/bin/inspan.js')
    const tests = ['first-hour', 'read-only'].map((name) => join(root, `packages/inspan/src/${name}.test.ts`))
    const { code, out } = await play(['--test', ...tests], { INSPAN_TEST_BIN: bin }, root)
    assert.equal(code, 0, out)
  })
}
