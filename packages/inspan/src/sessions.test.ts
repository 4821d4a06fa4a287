// Conversations that coding agents have kept without inspan, on the command line.
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, suite, test } from 'node:test'
import { capturedMain, type CapturedRun } from './captured-main.fixture.ts'

// Times are printed as on the clock on the wall.
process.env['TZ'] = 'Asia/Tokyo'

const IDS = {
  'claude-code': '0b7c6f0e-5a1d-4f43-9a39-6d1c2c9f7c11',
  codex: '019a1b2c-3d4e-7f50-8a6b-0c1d2e3f4a5b',
  opencode: 'ses_6f1c2d3e4a5bFfGgHh',
  pi: '5d0a8c1e-2b3f-4d5a-9c7e-1f2a3b4c5d6e',
} as const
const AT = Date.UTC(2026, 5, 1, 12)

let base = ''
let project = ''
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'inspan-sessions-')))
  project = join(base, 'project')
  await mkdir(project)
})
afterEach(() => rm(base, { recursive: true, maxRetries: 5 }))

function inspan(args: readonly string[], cwd = project): Promise<CapturedRun> {
  return capturedMain(args, { cwd, env: { HOME: base, INSPAN_HOME: join(base, 'inspan'), PATH: join(base, 'bin') } })
}

/** Writes a file as the agent does, last changed so many minutes after noon. */
async function write(path: string, records: readonly object[], minutes: number): Promise<void> {
  const file = join(base, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const at = new Date(AT + minutes * 60_000)
  await utimes(file, at, at)
}

async function claudeCode(cwd: string, id: string, prompt: string, minutes = 1): Promise<void> {
  const of = { sessionId: id, cwd }
  await write(
    `.claude/projects/${cwd.replaceAll(/[^a-zA-Z0-9]/g, '-')}/${id}.jsonl`,
    [
      { ...of, type: 'user', uuid: 'n1', message: { role: 'user', content: prompt } },
      { ...of, type: 'assistant', uuid: 'n2', message: { content: [{ type: 'text', text: 'I will.' }] } },
    ],
    minutes,
  )
}

async function codex(): Promise<void> {
  const content = [{ type: 'input_text', text: 'Asked of Codex.' }]
  await write(
    `.codex/sessions/2026/06/01/rollout-2026-06-01T12-02-00-${IDS.codex}.jsonl`,
    [
      { type: 'session_meta', payload: { id: IDS.codex, cwd: project } },
      { type: 'response_item', payload: { type: 'message', role: 'user', content } },
    ],
    2,
  )
}

async function pi(): Promise<void> {
  await write(
    `.pi/agent/sessions/--project--/2026-06-01T12-03-00-000Z_${IDS.pi}.jsonl`,
    [
      { type: 'session', version: 3, id: IDS.pi, cwd: project },
      { type: 'message', id: 'a1', message: { role: 'user', content: [{ type: 'text', text: 'Asked of Pi.' }] } },
    ],
    3,
  )
}

/** OpenCode keeps its sessions in a database: the program is asked for them. */
async function opencode(): Promise<void> {
  const listed = [{ id: IDS.opencode, title: 'Asked of OpenCode.', updated: AT + 4 * 60_000, directory: project }]
  const bin = join(base, 'bin/opencode')
  await mkdir(dirname(bin), { recursive: true })
  await writeFile(
    bin,
    `#!${process.execPath}
const [command, verb] = process.argv.slice(2)
if (command === '--version') console.log('1.18.34')
if (command === 'session' && verb === 'list') console.log(${JSON.stringify(JSON.stringify(listed))})
`,
  )
  await chmod(bin, 0o755)
}

suite('inspan sessions', () => {
  test('lists what four coding agents have kept in the folder, newest first', async () => {
    await claudeCode(project, IDS['claude-code'], 'Asked of\nClaude Code.')
    await claudeCode(join(base, 'elsewhere'), '7c11aaaa-5a1d-4f43-9a39-6d1c2c9f0000', 'Asked elsewhere.')
    await Promise.all([codex(), opencode(), pi()])
    const { code, err, out } = await inspan(['sessions'])
    assert.equal(code, 0, err)
    assert.deepEqual(out.trimEnd().split('\n'), [
      `opencode     ${IDS.opencode}  2026-06-01 21:04  Asked of OpenCode.`,
      `pi           ${IDS.pi}  2026-06-01 21:03  Asked of Pi.`,
      `codex        ${IDS.codex}  2026-06-01 21:02  Asked of Codex.`,
      `claude-code  ${IDS['claude-code']}  2026-06-01 21:01  Asked of Claude Code.`,
    ])
  })

  test('lists those of one agent, of another folder, as lines of JSON', async () => {
    await claudeCode(project, IDS['claude-code'], 'Asked of Claude Code.')
    await codex()
    const { out } = await inspan(['sessions', 'project', '--harness', 'codex', '--json'], base)
    assert.deepEqual(JSON.parse(out), {
      agentId: 'codex',
      id: IDS.codex,
      cwd: project,
      title: 'Asked of Codex.',
      updatedAt: AT + 2 * 60_000,
    })
    assert.equal((await inspan(['sessions', '--harness', 'goose'])).code, 2)
  })

  test('prints nothing of what could command a terminal', async () => {
    await claudeCode(project, IDS['claude-code'], 'Red \u001b[31malert')
    const { out } = await inspan(['sessions'])
    assert.ok(out.includes('alert') && !out.includes('\u001b'), JSON.stringify(out))
  })

  test('reports that there is none', async () => {
    const { code, err, out } = await inspan(['sessions'])
    assert.deepEqual([code, out, err], [0, '', `No coding agent has kept a conversation in ${project}.\n`])
  })
})

suite('inspan chat --session', () => {
  test('finds the session by the end of its id, whatever the config chooses', async () => {
    await claudeCode(project, IDS['claude-code'], 'Asked of Claude Code.')
    await writeFile(join(project, 'inspan.json'), '{ "model": "anthropic/claude-sonnet-4-5" }')
    // There is no terminal here: it gets as far as that.
    for (const given of [IDS['claude-code'], '9f7c11']) {
      assert.match((await inspan(['chat', '--session', given])).err, /needs a terminal/)
    }
  })

  test('refuses an id that is unknown, from another folder, too short, or not the only one', async () => {
    await claudeCode(project, IDS['claude-code'], 'One.')
    await claudeCode(project, `${IDS['claude-code'].slice(0, -12)}0d1c2c9f7c11`, 'Two.')
    await claudeCode(join(base, 'elsewhere'), '7c11aaaa-5a1d-4f43-9a39-6d1c2c9f0000', 'Elsewhere.')
    for (const given of ['nobody', '9f0000', 'c11', '9f7c11']) {
      const { code, err } = await inspan(['chat', '--session', given])
      assert.equal(code, 1)
      assert.match(err, new RegExp(`No coding agent has a conversation "${given}" in this folder\\. "inspan sessions"`))
    }
  })
})
