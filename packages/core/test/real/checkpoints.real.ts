import assert from 'node:assert/strict'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, suite, test, type TestContext } from 'node:test'
import { claudeCode, codex } from '@inspan/adapters'
import type { AgentDriver } from '@inspan/protocol/driver'
import { startProvider, type Provider, type Turn } from '@inspan/testing'
import { Harness } from '../../src/index.ts'
import { installedCli } from './installed-cli.ts'

const TEST_MS = 20 * 60_000
const INSTALL_MS = 60 * 60_000

interface Place {
  readonly home: string
  readonly work: string
  readonly temp: string
  readonly kept: string
}

async function makePlace(t: TestContext, ends: (() => Promise<void>)[]): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'inspan-checkpoints-')))
  t.after(async () => {
    for (const end of ends) await end()
    await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  })
  const dirs = {
    home: join(root, 'home'),
    work: join(root, 'work'),
    temp: join(root, 'temp'),
    kept: join(root, 'kept'),
  }
  for (const dir of Object.values(dirs)) await mkdir(dir)
  return dirs
}

type Make = (bin: string, place: Place, provider: Provider) => AgentDriver

const claude: Make = (bin, { home, temp }, provider) =>
  claudeCode({
    bin,
    env: {
      HOME: home,
      TMPDIR: temp,
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: 'sk-ant-test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
    },
  })

const gpt: Make = (bin, { home, temp }, provider) =>
  codex({
    bin,
    model: 'gpt-5.5',
    config: {
      model_provider: 'scripted',
      'model_providers.scripted': {
        name: 'scripted',
        base_url: `${provider.url}/v1`,
        env_key: 'CODEX_API_KEY',
        wire_api: 'responses',
        request_max_retries: 1,
        stream_max_retries: 1,
      },
    },
    env: { HOME: home, TMPDIR: temp, CODEX_HOME: undefined, CODEX_API_KEY: 'sk-test' },
  })

/** What the folder holds: bytes, modes and links. */
function contents(folder: string, below = ''): Readonly<Record<string, string>> {
  return Object.assign(
    {},
    ...readdirSync(join(folder, below))
      .toSorted()
      .map((name) => {
        const path = join(below, name)
        const found = lstatSync(join(folder, path))
        if (found.isDirectory()) return contents(folder, path)
        if (found.isSymbolicLink()) return { [path]: `-> ${readlinkSync(join(folder, path))}` }
        return { [path]: `${(found.mode & 0o111) === 0 ? '' : 'x '}${readFileSync(join(folder, path), 'base64')}` }
      }),
  ) as Readonly<Record<string, string>>
}

const COMMAND = [
  'sed -i s/one/two/ sed.txt',
  'mv moved.txt elsewhere.txt',
  'rm gone.txt',
  'chmod +x mode.sh',
  'printf "\\001\\002" > bytes.bin',
  'rm link && ln -s mode.sh link',
  'mkdir -p made && echo new > made/new.txt',
].join(' && ')

function fill(work: string): void {
  for (const name of ['sed.txt', 'moved.txt', 'gone.txt', 'mode.sh', 'edited.txt', 'replaced.txt']) {
    writeFileSync(join(work, name), `one of ${name}\n`)
  }
  writeFileSync(join(work, 'bytes.bin'), Buffer.from([0, 255, 10, 13, 0]))
  writeFileSync(join(work, 'run.sh'), '#!/bin/sh\n')
  chmodSync(join(work, 'run.sh'), 0o755)
  mkdirSync(join(work, 'below'))
  writeFileSync(join(work, 'below/large.txt'), 'a line\n'.repeat(200_000))
  symlinkSync('sed.txt', join(work, 'link'))
}

const patch = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')

const PROGRAMS: readonly (readonly ['claude-code' | 'codex', Make, (work: string) => readonly Turn[]])[] = [
  [
    'claude-code',
    claude,
    (work) => [
      { toolCalls: [{ name: 'Bash', input: { command: COMMAND, description: 'Changes files' } }] },
      { toolCalls: [{ name: 'Read', input: { file_path: join(work, 'edited.txt') } }] },
      {
        toolCalls: [
          { name: 'Edit', input: { file_path: join(work, 'edited.txt'), old_string: 'one', new_string: 'three' } },
          { name: 'Write', input: { file_path: join(work, 'written.txt'), content: 'written\n' } },
        ],
      },
      { text: 'CHANGED.' },
    ],
  ],
  [
    'codex',
    gpt,
    () => [
      { toolCalls: [{ name: 'exec_command', input: { cmd: COMMAND, yield_time_ms: 30_000 } }] },
      {
        toolCalls: [
          {
            name: 'apply_patch',
            custom: true,
            input: patch(
              '*** Update File: edited.txt',
              '@@',
              '-one of edited.txt',
              '+three of edited.txt',
              '*** Add File: written.txt',
              '+written',
              '*** Delete File: replaced.txt',
            ),
          },
        ],
      },
      { text: 'CHANGED.' },
    ],
  ],
]

suite('the files that a foreign agent changed', () => {
  const bins = { 'claude-code': '', codex: '' }
  before(
    async () => {
      for (const id of ['claude-code', 'codex'] as const) bins[id] = await installedCli(id)
    },
    { timeout: INSTALL_MS },
  )

  for (const [id, make, turnsIn] of PROGRAMS) {
    test(`${id}: a rewind restores exactly what was there before its turn`, { timeout: TEST_MS }, async (t) => {
      const ends: (() => Promise<void>)[] = []
      const place = await makePlace(t, ends)
      const provider = await startProvider({ turns: [...turnsIn(place.work)] })
      t.after(() => provider.close())
      fill(place.work)
      const before = contents(place.work)
      const harness = new Harness({
        id: 'checkpoints',
        agent: make(bins[id], place, provider),
        modes: [{ id: 'build' }],
        workspace: { root: place.work, checkpoints: { folder: place.kept } },
      })
      ends.push(() => harness.destroy())
      await harness.session.permissions.setYolo({ enabled: true })
      const failures: string[] = []
      harness.subscribe((event) => void (event.type === 'error' && failures.push(event.error.message)))
      await harness.sendMessage({ content: 'Change everything.' })
      assert.deepEqual(failures, [])

      const after = contents(place.work)
      const { thread } = harness.session
      const statuses = Object.fromEntries((await thread.changes()).map(({ path, status }) => [path, status]))
      const changed = new Set(
        [...Object.keys(before), ...Object.keys(after)].filter((path) => before[path] !== after[path]),
      )
      assert.deepEqual(new Set(Object.keys(statuses)), changed)
      for (const path of ['sed.txt', 'elsewhere.txt', 'gone.txt', 'mode.sh', 'bytes.bin', 'link', 'made/new.txt']) {
        assert.ok(changed.has(path), `the command has changed ${path}`)
      }
      for (const path of ['edited.txt', 'written.txt']) assert.ok(changed.has(path), `its tools have changed ${path}`)

      const messageId = (await thread.listActiveMessages())[0]?.id ?? ''
      const dry = await thread.restoreFiles({ messageId, dryRun: true })
      assert.deepEqual([dry.conflicts, contents(place.work)], [[], after])
      await thread.restoreFiles({ messageId })
      assert.deepEqual(contents(place.work), before)
    })
  }
})
