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
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { ModelTurn } from '@inspan/testing'
import { Harness } from '../../src/index.ts'
import { programDriver, type ProgramId } from './program-driver.ts'
import { installedPrograms, makePlace, scripted, TEST_MS } from './programs.ts'

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

const PROGRAMS: readonly (readonly [ProgramId, (work: string) => readonly ModelTurn[]])[] = [
  [
    'claude-code',
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
  const bins = installedPrograms()

  for (const [id, turnsIn] of PROGRAMS) {
    test(`${id}: a rewind restores exactly what was there before its turn`, { timeout: TEST_MS }, async (t) => {
      const { ends, root, work } = await makePlace(t)
      const { url: providerUrl } = await scripted(t, turnsIn(work))
      fill(work)
      const before = contents(work)
      const harness = new Harness({
        id: 'checkpoints',
        agent: programDriver(id, { bin: bins[id], root, providerUrl }),
        modes: [{ id: 'build' }],
        workspace: { root: work, checkpoints: { folder: join(root, 'kept') } },
      })
      ends.push(() => harness.destroy())
      await harness.session.permissions.setYolo({ enabled: true })
      const failures: string[] = []
      harness.subscribe((event) => void (event.type === 'error' && failures.push(event.error.message)))
      await harness.sendMessage({ content: 'Change everything.' })
      assert.deepEqual(failures, [])

      const after = contents(work)
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
      assert.deepEqual([dry.conflicts, contents(work)], [[], after])
      await thread.restoreFiles({ messageId })
      assert.deepEqual(contents(work), before)
    })
  }
})
