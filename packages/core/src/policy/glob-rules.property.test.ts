import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { PermissionRules } from '@inspan/protocol'
import fc from 'fast-check'
import { createPolicy } from './index.ts'

/** Compares with what a real shell makes of a pattern, in a folder full of names that are easily confused. */

const NAMES = ['a', 'e', 'ae', 'a.e', 'A', '.a', '.e', '.ae', '.a.e', '[a]', 'é']
const FOLDERS = ['.', 'd', '.d', 'd/d', 'd/.d', 'a.d']

let made = ''
let root = ''

before(() => {
  made = realpathSync(mkdtempSync(join(tmpdir(), 'policy-globs-')))
  // So deep that no pattern climbs out of the folders made here.
  root = join(made, 'p', 'q', 'r', 's')
  for (const folder of FOLDERS) {
    mkdirSync(join(root, folder), { recursive: true })
    for (const name of NAMES) writeFileSync(join(root, folder, name), '')
  }
})

after(() => rmSync(made, { recursive: true, force: true, maxRetries: 5 }))

const piece = fc.constantFrom(
  'a',
  'e',
  '.',
  '.',
  'd',
  '*',
  '*',
  '?',
  '[ae]',
  '[!a]',
  '[.]',
  '{a,e}',
  '{.a,d}',
  '"*"',
  '\\[',
)
const name = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''))
const folder = fc.oneof(name, fc.constantFrom('d', '.d', '*', '**', '.', '..', '.*'))
const glob = fc
  .tuple(fc.constantFrom('', '', '', './', 'd/../', '$ROOT/'), fc.array(folder, { maxLength: 2 }), name)
  .map(([start, folders, last]) => `${start}${[...folders, last].join('/')}`)

const rulePiece = fc.constantFrom('a', 'e', '.', '.', 'd', '*', '?', 'É')
const ruleName = fc
  .array(rulePiece, { minLength: 1, maxLength: 3 })
  .map((pieces) => pieces.join('').replace(/\*+/g, '*'))
const rulePattern = fc
  .tuple(fc.array(fc.oneof(ruleName, fc.constantFrom('d', '**', '.d')), { maxLength: 2 }), ruleName)
  .map(([folders, last]) => [...folders, last].join('/'))
  .filter((pattern) => !pattern.split('/').includes('..'))

const SWITCHES = ['', 'shopt -s dotglob; ', 'shopt -s globstar; ', 'shopt -s nocaseglob; ', 'GLOBIGNORE=x; ']

/** Returns what bash makes of each of the words, in the folder. */
function expand(words: readonly string[], setting: string): string[][] {
  const script = words
    .map((word) => `for f in ${word}; do [ -f "$f" ] && printf '%s\\n' "$f"; done; echo --`)
    .join('\n')
  const { stdout } = spawnSync('bash', ['--norc', '-c', `shopt -s nullglob; ${setting}\n${script}`], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
  })
  const found = stdout.split('--\n').map((list) => list.split('\n').filter((path) => path !== ''))
  assert.equal(found.length, words.length + 1)
  return found.slice(0, -1)
}

function verdict(command: string, pattern: string, tool = 'read_file'): string {
  const rules: PermissionRules = {
    categories: { execute: 'allow' },
    tools: {},
    patterns: [{ tool, pattern, policy: 'deny' }],
  }
  const policy = createPolicy({ rules, cwd: root, home: '/home/me' })
  return policy.decide({ toolCallId: 'call', toolName: 'execute_command', args: { command } }, {}).policy
}

suite('a pattern of the shell under a deny of files', () => {
  test('is allowed only where it finds no denied file in a real shell', () => {
    let allowed = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(glob, rulePattern), { minLength: 25, maxLength: 25 }),
        fc.constantFrom(...SWITCHES),
        (pairs, setting) => {
          const words = pairs.map(([word]) => word.replace('$ROOT', root))
          const found = expand(words, setting)
          for (const [at, [, pattern]] of pairs.entries()) {
            const command = `${setting}cat ${words[at]}`
            if (verdict(command, pattern) !== 'allow') continue
            allowed += 1
            const denied = (found[at] ?? []).filter((path) => verdict(`cat -- '${path}'`, pattern) !== 'allow')
            assert.deepEqual(denied, [], `${command} under a deny of ${pattern}`)
          }
        },
      ),
      { numRuns: 60, seed: 1 },
    )
    assert.ok(allowed > 100, `only ${allowed} were allowed: nothing was tested`)
  })

  test('asks about nothing that it cannot find', () => {
    const harmless = [
      ['src/*.ts', '.env*'],
      ['*', '.env'],
      ['src/**/*.{ts,tsx}', '.env*'],
      ['packages/*/src/[a-z]*.ts', '.env*'],
      ['*.md', 'secrets/**'],
      ['src/*', 'src/generated/*.ts'],
      ['src/a*', 'src/b*'],
      ['{a,b}.json', 'c.json'],
      ['../other/*.ts', 'src/**'],
      ['/tmp/x/*.log', '~/.ssh/**'],
      ['~/notes/*', '~/.ssh/**'],
      ['app/[id]/page.tsx', '.env*'],
    ] as const
    for (const [word, pattern] of harmless) {
      for (const program of ['cat', 'wc -l', 'grep -n x', 'prettier --check']) {
        assert.equal(verdict(`${program} ${word}`, pattern), 'allow', `${program} ${word} under a deny of ${pattern}`)
      }
    }
  })

  test('asks about what it may find', () => {
    const risky = [
      ['.e*', '.env*'],
      ['.[a-z]*', '.env'],
      ['.??*', '.env'],
      ['*/.env', '.env'],
      ['src/**', 'src/generated/**'],
      ['src/*', 'src/a.ts'],
      ['s*/a.ts', 'src/**'],
      ['{.env,x}', '.env*'],
      ['{a,b}*', 'beta'],
      ['/*/self/cwd/x', 'x/y'],
      ['/proc/*/cwd/src/a', 'src/**'],
      ['.*', 'src/**'],
      ['*/../src/a', 'src/**'],
      ['@(.env|x)', '.env'],
      ['~/.s*/id', '~/.ssh/**'],
      ['~root/*', '.env'],
    ] as const
    for (const [word, pattern] of risky) {
      assert.equal(verdict(`cat ${word}`, pattern), 'ask', `cat ${word} under a deny of ${pattern}`)
      assert.equal(verdict(`rm ${word}`, pattern, 'edit_file'), 'ask', `rm ${word} under a deny of ${pattern}`)
    }
  })

  test('may find hidden files where the same text switches that on', () => {
    const commands = [
      'shopt -s dotglob; cat *',
      "shopt -s 'dot'glob; cat *",
      "shopt -s $'dot\\x67lob'; cat *",
      'shopt -s "$x"; cat *',
      'GLOBIGNORE=x; cat *',
      'export GLOBIGNORE=x; cat *',
      "bash -O dotglob -c 'cat *'",
      "BASHOPTS=dotglob bash -c 'cat *'",
      'source x; cat *',
      '. ./x; cat *',
      "eval 'shopt -s dotglob'; cat *",
      "eval 'shopt -s dotglob; cat *'",
    ]
    for (const command of commands) assert.notEqual(verdict(command, '.env'), 'allow', command)
    assert.equal(verdict('set -e; cat *', '.env'), 'allow')
  })
})
