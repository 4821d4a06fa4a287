import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))

describe('docs/internals/shell-run.md', () => {
  it('has an example that runs', async () => {
    const page = await readFile(join(repository, 'docs/internals/shell-run.md'), 'utf8')
    const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1]
    assert.ok(example)
    const temp = await mkdtemp(join(tmpdir(), 'inspan-docs-'))
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', example], {
      cwd: repository,
      env: { ...process.env, TMPDIR: temp },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>])
    await rm(temp, { recursive: true })
    assert.equal(code, 0)
    assert.deepEqual(printed.trimEnd().split('\n').toSorted(), [
      'clean',
      'my key is sk-123',
      'stderr working',
      'stdout my key is [key]',
      'stdout {"type":"text"}',
      '{"type":"text"}',
    ])
  })
})
