import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { PermissionRules } from '@inspan/protocol'
import fc from 'fast-check'
import { createPolicy } from './index.ts'

/**
 * A deny of files is only worth something if allowed commands do not show them: a real bash runs these, among real
 * files.
 */

const PROGRAMS = [
  'cat ·head -n1 ·tail -n1 ·grep -h . ·grep -rh . ·sed -n p ·awk 1 ·sort ·nl ·wc -l ·tac ·paste ·diff a ·dd if=·tee ·xargs cat ·xargs head ',
  'cp ·mv ·ln -s ·ln ·cp -r ·tar cf - ·find ·echo ·printf %s ·cd ·test -f ·ls ·read x < ·x=·set -- ·source ·. ./·mapfile m < ·sed p ·touch ',
].flatMap((line) => line.split('·'))
const OPERANDS = [
  '.env ·./.env ·.e* ·* ·.* ·.en? ·[.]env ·{a,.env} ·".env" ·.e"n"v ·d/* ·d ·. ·.. ·secrets/a ·secrets ·s*/a ·*/a ·s*/* ·{secrets,d}/a ·a ·y ',
  '"$PWD/.env" ·$PWD/secrets/a ·$x ·"$x" ·"$1" ·~+/.env ·../w/.env ·d/../.env ·/proc/self/cwd/.env ·/dev/fd/../cwd/secrets/a ·- ·-- ·d/a ',
  '/proc/self/cwd/../w/secrets/a ·-name .env ·-type f ·-exec cat {} \\; ·"${m[0]}" ·$(echo .env) ·`echo secrets/a` ·<(cat .env) ·"$(<.env)" ',
].flatMap((line) => line.split('·'))
const JOINTS = ['', '', '', '; ', '; ', '&& ', '| ', '\n', '> y ', '< ', '>> y; ', '<<< ', 'shopt -s dotglob; ']

const text = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom(...PROGRAMS), fc.constantFrom(...OPERANDS)),
      fc.constantFrom(...OPERANDS),
      fc.constantFrom(...JOINTS),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((pieces) => pieces.flat().join(''))

const SECRET = 'not to be seen'
const RULES: PermissionRules = {
  categories: { execute: 'allow', edit: 'allow' },
  tools: {},
  patterns: ['.env*', 'secrets/a'].map((pattern) => ({ tool: 'read_file', pattern, policy: 'deny' })),
}

/** So deep that no command, which has four parts at most, leaves the folder that is removed at the end. */
const DEPTH = ['home', '1', '2', '3', '4', '5', 'w']

let root = ''

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'policy-secrets-')))
})

after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

/** Returns what bash prints, in a new folder. */
function run(command: string, cwd: string): string {
  const home = join(root, 'home')
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  for (const folder of ['d', 'secrets']) mkdirSync(join(cwd, folder), { recursive: true })
  for (const file of ['a', 'd/a', 'd/b', 'secrets/b']) writeFileSync(join(cwd, file), 'open\n')
  for (const file of ['.env', 'secrets/a']) writeFileSync(join(cwd, file), `${SECRET}\n`)
  const { stdout } = spawnSync('bash', ['--norc', '-c', command], {
    cwd,
    env: { PATH: '/usr/bin:/bin', PWD: cwd, HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
    timeout: 10_000,
    maxBuffer: 16_777_216,
  })
  return stdout
}

suite('in a real shell', () => {
  test('nothing that is allowed shows a denied file', () => {
    const cwd = join(root, ...DEPTH)
    const policy = createPolicy({ rules: RULES, cwd, home: join(root, 'home') })
    let allowed = 0
    fc.assert(
      fc.property(text, (command) => {
        const call = { toolCallId: 'call', toolName: 'execute_command', args: { command } }
        if (policy.decide(call, {}).policy !== 'allow') return
        allowed += 1
        assert.ok(!run(command, cwd).includes(SECRET), command)
      }),
      { numRuns: 1_000, seed: 1 },
    )
    assert.deepEqual(readdirSync(root), ['home'], 'a command has got out of its folder')
    assert.ok(allowed > 20, `only ${allowed} were allowed: nothing was tested`)
  })
})
