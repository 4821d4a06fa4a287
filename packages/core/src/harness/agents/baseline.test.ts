import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { HarnessBench } from '../harness.fixture.ts'
import { does, ForeignAgent } from '../../engine/foreign-agent.fixture.ts'

/** Makes git slow in keeping a folder, and has it note what is in `a.txt` when it has kept it for the first time. */
function slowGit(t: TestContext): { readonly base: string; readonly root: string; readonly kept: () => string } {
  const base = mkdtempSync(join(tmpdir(), 'inspan-baseline-'))
  const [root, bin, note] = ['root', 'bin', 'note'].map((name) => join(base, name)) as [string, string, string]
  for (const folder of [root, bin]) mkdirSync(folder)
  writeFileSync(join(root, 'a.txt'), 'one')
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const script = `#!/bin/sh
case " $* " in *" add "*) sleep 0.4; [ -e ${note} ] || cp ${root}/a.txt ${note};; esac
exec ${real} "$@"
`
  writeFileSync(join(bin, 'git'), script)
  chmodSync(join(bin, 'git'), 0o755)
  const { PATH } = process.env
  process.env['PATH'] = `${bin}:${PATH}`
  t.after(() => {
    process.env['PATH'] = PATH
    rmSync(base, { recursive: true, force: true })
  })
  return { base, root, kept: () => (existsSync(note) ? readFileSync(note, 'utf8') : 'nothing') }
}

suite('before the state of the folder is kept', () => {
  test('no call begins that may change files', async (t) => {
    const { base, kept, root } = slowGit(t)
    const script = [
      { toolCalls: [{ name: 'execute_command', input: { command: 'echo two > a.txt' } }] },
      { text: 'Done.' },
    ]
    await using bench = new HarnessBench(script, {
      workspace: { root, checkpoints: { folder: join(base, 'kept') } },
      initialState: { yolo: true },
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual([kept(), readFileSync(join(root, 'a.txt'), 'utf8')], ['one', 'two\n'])
  })

  test('no turn of a foreign agent begins', async (t) => {
    const { base, kept, root } = slowGit(t)
    const agent = new ForeignAgent('foreign', [does((cwd) => writeFileSync(join(cwd, 'a.txt'), 'foreign'))])
    await using bench = new HarnessBench([], {
      agent,
      workspace: { root, checkpoints: { folder: join(base, 'kept') } },
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual([kept(), readFileSync(join(root, 'a.txt'), 'utf8')], ['one', 'foreign'])
  })
})
