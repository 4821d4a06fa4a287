/** The two commands in a fresh clone with an older Node, tested with a real Node and a real npm. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { nodeRelease } from './pack-test/node-release.ts'
import { olderMachine } from './pack-test/older-machine.ts'
import { outsideEnvironment } from './pack-test/run.ts'
import { copyAsCloned } from './pack-test/workspace-copy.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cache = join(root, 'node_modules', '.cache', 'inspan')
const OLDER = '18.20.8'
const MUCH_OLDER = '16.20.2'
/** Installs everything the project needs, while other tests run. */
const INSTALL_TIMEOUT_MS = 900_000

const base = await realpath(await mkdtemp(join(tmpdir(), 'inspan-older-')))
const clone = join(base, 'clone')
const machine = join(base, 'bin')

interface Ended {
  readonly code: number | null
  /** The output in the chunks in which it arrived. */
  readonly chunks: readonly string[]
  readonly out: string
  readonly err: string
}

/** Runs a program of the older machine in the clone. */
async function onOlderMachine(command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> {
  // Hides the newer Node that this test was started with.
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const child = spawn(command, args, {
    cwd: clone,
    env: {
      ...outsideEnvironment(),
      PATH: [machine, ...path].join(delimiter),
      INSPAN_HOME: join(base, 'data'),
      npm_config_prefer_offline: 'true',
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: string[] = []
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, chunks, out: chunks.join(''), err }
}

before(
  async () => {
    await mkdir(clone)
    await mkdir(cache, { recursive: true })
    await Promise.all([copyAsCloned(root, clone), olderMachine(OLDER, cache, machine)])
  },
  { timeout: INSTALL_TIMEOUT_MS },
)

after(() => rm(base, { recursive: true, force: true }))

describe(`a fresh clone on Node ${OLDER}`, () => {
  it('is one: an older Node, and nothing installed', async () => {
    assert.equal((await onOlderMachine('node', ['--version'])).out.trim(), `v${OLDER}`)
    assert.equal(existsSync(join(clone, 'node_modules')), false)
  })

  it(
    'npm run demo installs what is missing and streams the answer of the demo agent',
    { timeout: INSTALL_TIMEOUT_MS },
    async () => {
      const ended = await onOlderMachine('npm', ['run', '--silent', 'demo'])
      assert.equal(ended.code, 0, ended.err)
      assert.match(ended.err, /Installing what is missing/)
      assert.match(ended.out, /→ list_files .*\n✓ list_files .*\n.*demo agent/)
      assert.ok(ended.chunks.length > 1)
      assert.match(ended.err, /Kept as thread \S+\. See it again: npx inspan replay \S+/)
    },
  )

  it('npm run demo installs nothing the second time, and needs no network', async () => {
    const ended = await onOlderMachine('npm', ['run', 'demo'], { npm_config_offline: 'true' })
    assert.equal(ended.code, 0, ended.err)
    assert.doesNotMatch(ended.err, /Installing/)
    assert.match(ended.out, /demo agent/)
  })

  it('npm test continues with the Node of the project', async () => {
    const ended = await onOlderMachine('npm', ['test', '--', 'scripts/hygiene/traces.test.ts'])
    assert.equal(ended.code, 0, ended.out + ended.err)
    assert.match(ended.out, /^(?:ℹ|#) fail 0$/m)
    assert.doesNotMatch(ended.err, /Installing/)
  })

  it('the command that the demo names shows the conversation again', async () => {
    const [, thread = ''] = /inspan replay (\S+)/.exec((await onOlderMachine('npm', ['run', 'demo'])).err) ?? []
    const ended = await onOlderMachine('npm', ['exec', '--', 'inspan', 'replay', thread])
    assert.equal(ended.code, 0, ended.err)
    assert.match(ended.out, /demo agent/)
  })
})

it(
  `says on Node ${MUCH_OLDER} which one is needed, and installs nothing`,
  { timeout: INSTALL_TIMEOUT_MS },
  async () => {
    const node = join(await nodeRelease(MUCH_OLDER, cache), 'node')
    await rm(join(clone, 'node_modules'), { recursive: true, force: true })
    const ended = await onOlderMachine(node, ['scripts/launch.mjs', 'start'])
    assert.equal(ended.code, 1)
    assert.match(ended.err, /^Node\.js 20 or newer is needed to begin with, and this is v16\.20\.2\.\nInstall/)
    assert.equal(existsSync(join(clone, 'node_modules')), false)
  },
)
