import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { noFaults } from '@inspan/protocol/driver'
import { FaultInjected, faultPoints, faultPointsFromEnv } from './fault-points.ts'
import type { ReachedPoint } from './fault-points.ts'

describe('fault points in process', () => {
  test('a dry run lists every point that is reached, and how often', async () => {
    const points = faultPoints({ record: true })
    await points.reach('commit', 'thread-1')
    await points.reach('send')
    await points.reach('commit')
    assert.deepEqual(points.reached, [
      { name: 'commit', n: 1, detail: 'thread-1' },
      { name: 'send', n: 1, detail: undefined },
      { name: 'commit', n: 2, detail: undefined },
    ])
  })

  test('throws the n-th time that a point is reached, and only then', async () => {
    const points = faultPoints({ at: { name: 'commit', n: 2, action: 'throw' } })
    await points.reach('commit')
    await points.reach('send')
    assert.throws(
      () => points.reach('commit', 'x'),
      (error: unknown) => error instanceof FaultInjected && error.point.n === 2 && error.point.detail === 'x',
    )
    await points.reach('commit')
    assert.deepEqual(points.reached, [], 'nothing is kept unless it was asked for')
  })

  test('* counts all points', async () => {
    const points = faultPoints({ at: { name: '*', n: 3, action: 'throw' } })
    await points.reach('a')
    await points.reach('b')
    assert.throws(() => points.reach('a'), /Fault injected at a, time 2/)
  })

  test('hangs until it is released', async () => {
    const points = faultPoints({ at: { name: 'commit', n: 1, action: 'hang' } })
    const hanging = Promise.resolve(points.reach('commit')).then(() => 'released')
    assert.equal(await Promise.race([hanging, Promise.resolve('still waiting')]), 'still waiting')
    points.release()
    assert.equal(await hanging, 'released')
  })

  test('does what a function does', async () => {
    const seen: ReachedPoint[] = []
    const points = faultPoints({
      at: {
        name: 'commit',
        n: 1,
        action: async (point) => {
          seen.push(point)
          throw new Error('disk full')
        },
      },
    })
    await assert.rejects(async () => points.reach('commit'), /disk full/)
    assert.equal(seen.length, 1)
  })
})

describe('fault points of a child process', () => {
  test('without the variables they are those of production', () => {
    assert.equal(faultPointsFromEnv({}), noFaults)
    assert.equal(faultPointsFromEnv({ INSPAN_FAULT: '' }), noFaults)
  })

  test('a variable that makes no sense is an error, not a fault that never comes', () => {
    for (const bad of ['commit', 'commit:0:kill', 'commit:1:explode', ':1:kill']) {
      assert.throws(() => faultPointsFromEnv({ INSPAN_FAULT: bad }), /INSPAN_FAULT must be name:n:throw/)
    }
  })

  test('a name may hold colons', () => {
    const points = faultPointsFromEnv({ INSPAN_FAULT: 'store:commit:1:throw' })
    assert.throws(() => points.reach('store:commit'), FaultInjected)
  })

  test('kill: the process dies by SIGKILL right at the point', async () => {
    const { signal, output } = await runChild({ INSPAN_FAULT: 'step:3:kill' })
    assert.equal(signal, 'SIGKILL')
    assert.equal(output, 'before 1\nafter 1\nbefore 2\nafter 2\nbefore 3\n')
  })

  test('log: a dry run in a child lists where it can be killed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'fault-points-'))
    try {
      const logFile = join(directory, 'points.jsonl')
      const { code } = await runChild({ INSPAN_FAULT_LOG: logFile })
      assert.equal(code, 0)
      const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n')
      assert.deepEqual(
        lines.map((line) => JSON.parse(line) as unknown),
        Array.from({ length: 5 }, (_, index) => ({ name: 'step', n: index + 1, detail: `number ${index + 1}` })),
      )
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  test('hang: the process stays where it is until it is killed', async () => {
    const child = startChild({ INSPAN_FAULT: 'step:2:hang' })
    let output = ''
    for await (const chunk of child.stdout) {
      output += String(chunk)
      if (output.endsWith('before 2\n')) child.kill('SIGKILL')
    }
    assert.equal(output, 'before 1\nafter 1\nbefore 2\n')
  })
})

const childFile = fileURLToPath(new URL('../test/fault-child.ts', import.meta.url))

function startChild(env: Record<string, string>): ReturnType<typeof spawn> & { stdout: NodeJS.ReadableStream } {
  return spawn(process.execPath, [childFile], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
}

async function runChild(env: Record<string, string>): Promise<{ code: unknown; signal: unknown; output: string }> {
  const child = startChild(env)
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code, signal] = await once(child, 'close')
  return { code, signal, output }
}
