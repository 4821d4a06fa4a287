import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { createPolicy } from './index.ts'

/**
 * A deny of files is only worth something if no allowed git command that only reads shows them: a real git and bash run
 * them.
 */

const LOOKS = ['git diff', 'git log -p', 'git grep -n key', 'cd src && git diff']
const OPERANDS = [
  ' · src · src/ · . · a.ts · a.ts src · src/ a.ts · src/a.ts a.ts · src/*.ts · s* · * · HEAD · HEAD src/a.ts · src/secrets/a.ts',
  '-- src · -- . · -- * · -- */ · -- s* · -- s?c · -- [!a]* · -- src/* · -- src/*.ts · -- src/s* · -- */*.env · -- *env',
  '-- {src,x} · -- {a,src/a}.ts · -- {s,x}rc · -- *{rc,x} · -- *{.env,.ts} · -- {"src",x} · -- .* · -- .e* · -- */a.ts',
  "-- '*' · -- '*.ts' · -- 'src/*' · -- '*env' · -- 's*/a' · -- a.ts 's*' · -- ':!src' · -- ':!.env' · -- ':(glob)src/**'",
  "-- : · -- :/ · -- :/src · -- ':(top)src' · -- ':(icase)SRC' · -- ':(literal)src' · -- ':(top)' · -- src/secrets/.. · -- a*.ts",
]
  .join(' · ')
  .split(' · ')

const DENIED = ['.env*', 'src/secrets/**']
const KEPT = ['.env', 'a.ts', 'src/.env', 'src/a.ts', 'src/secrets/a', 'src/secrets/a.ts']

let repository = ''

function run(command: string): string {
  const env = { PATH: process.env['PATH'], HOME: repository, GIT_CONFIG_NOSYSTEM: '1' }
  return spawnSync('bash', ['--norc', '-c', command], { cwd: repository, env, input: '', encoding: 'utf8' }).stdout
}

function writeAll(text: string): void {
  for (const path of KEPT) {
    mkdirSync(dirname(join(repository, path)), { recursive: true })
    writeFileSync(join(repository, path), `key ${text} <${path.replaceAll('/', '+')}>\n`)
  }
}

suite('what git keeps', () => {
  before(() => {
    repository = mkdtempSync(join(tmpdir(), 'policy-git-'))
    writeAll('old')
    run('git init -q && git config user.name a && git config user.email a@b && git add -Af . && git commit -qm a')
    writeAll('new')
  })

  after(() => rmSync(repository, { recursive: true, force: true, maxRetries: 5 }))

  test('is not shown where it is denied, by no look that is allowed', () => {
    const policies = DENIED.map((pattern) => {
      const rules = { categories: {}, tools: {}, patterns: [{ tool: 'read_file', pattern, policy: 'deny' } as const] }
      return { pattern, policy: createPolicy({ rules, cwd: repository }) }
    })
    let shown = 0
    for (const command of LOOKS.flatMap((look) => OPERANDS.map((operand) => `${look} ${operand}`))) {
      const allowed = policies.filter(({ policy }) => {
        const call = { toolCallId: 'call', toolName: 'execute_command', args: { command } }
        return policy.decide(call, { yolo: true }).policy === 'allow'
      })
      if (allowed.length === 0) continue
      const paths = [...run(command).matchAll(/<([^>\n]+)>/g)].map(([, path = '']) => path.replaceAll('+', '/'))
      if (paths.length > 0) shown += 1
      for (const { pattern } of allowed) {
        const folder = pattern.replace(/\*+$/, '')
        const denied = paths.filter((path) => path.startsWith(folder) || (folder === '.env' && path.includes('/.env')))
        assert.deepEqual(denied, [], `${command} under a deny of ${pattern}`)
      }
    }
    assert.ok(shown > 20, `only ${shown} were allowed and showed something: nothing was tested`)
  })
})
