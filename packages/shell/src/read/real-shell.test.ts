import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'

import fc from 'fast-check'

import { readCommand } from './index.ts'

/**
 * The parser is not bash. Here real shells run texts in which the only available programs are p1, p2 and p3, which log
 * their names. Whatever a shell ran must be in the reading, unless the reading was refused or reported something
 * unknown.
 */

const PROGRAMS = ['p1', 'p2', 'p3']
// No `while`: a loop over a program that succeeds would not end.
const PIECES = [
  `p1·p2·p3·p1 ·p2 ·p3 ·'p1'·"p2"·p"3"·p\\1·$(p1)·\`p2\`·"$(p3)"·'p3; p1'`,
  ` · ·\n·;·&&·||·|·&·(·)·{ ·; }·}·$(·\`·"·'·\\·\\\n·#·!`,
  'if ·; then ·; fi·for x in a; do ·; done·case a in a) ·;; esac·f() ·function g ·coproc ·time ',
  'X=·X=1 ·$X·"$X"·${X:-·${X#·$((·))·[[ · ]]·((·{a,b}·~·*·[·]·a[·=(·+=',
  `>f ·<f ·2>&1·<(·>(·<<E\n·\nE\n·<<'E'\n·<<<·&>f ·|& ·$'·\\'·$"`,
  'eval ·command ·exec ·trap · EXIT ·-p ·a·-c ',
].flatMap((line) => line.split('·'))

let root = ''

before(() => {
  root = mkdtempSync(join(tmpdir(), 'real-shell-'))
  mkdirSync(join(root, 'bin'))
  mkdirSync(join(root, 'work'))
  for (const program of PROGRAMS) {
    writeFileSync(join(root, 'bin', program), `#!/bin/sh\nprintf '%s\\n' ${program} >> "$LOG"\n`, { mode: 0o755 })
  }
})

after(() => rmSync(root, { recursive: true, force: true }))

function ranBy(shell: string, text: string): readonly string[] {
  const log = join(root, 'log')
  writeFileSync(log, '')
  spawnSync(shell, ['-c', text], {
    cwd: join(root, 'work'),
    env: { PATH: join(root, 'bin'), LOG: log },
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: 120_000,
  })
  return [...new Set(readFileSync(log, 'utf8').split('\n').filter(Boolean))]
}

function checkAgainst(shell: string, dialect: 'bash' | 'sh', text: string): void {
  const reading = readCommand(text, { shell: dialect })
  if (!reading.ok || reading.suspicious.length > 0) return
  if (reading.commands.some((command) => command.unknown !== null || command.runs !== null)) return
  // A background job may still write its log when the next text runs.
  if (reading.commands.some((command) => command.background || command.nesting.includes('coprocess'))) return
  if (reading.commands.some((command) => command.origin === 'process-substitution')) return
  const named = new Set(reading.commands.map((command) => command.program))
  for (const program of ranBy(shell, text))
    assert.ok(named.has(program), `${program} ran unseen: ${JSON.stringify(text)}`)
}

describe('what a real shell runs is in the reading', () => {
  for (const [shell, dialect] of [
    ['bash', 'bash'],
    ['sh', 'sh'],
  ] as const) {
    it(`for random texts, under ${shell}`, () => {
      // A fixed seed: this compares two programs and does not look for new differences on every run.
      fc.assert(
        fc.property(
          fc.array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 10 }).map((pieces) => pieces.join('')),
          (text) => checkAgainst(`/bin/${shell}`, dialect, text),
        ),
        { numRuns: 1_500, seed: 20_261_115 },
      )
    })
  }

  it('for texts made to be read differently', () => {
    for (const text of [
      'p<()1',
      'a[; $(p1)]b',
      "echo $'a\\'; p1 #'",
      '((p1))',
      '[[ a && p1 ]]',
      'x=p1; $x',
      '{p1,a}',
      'p\\\n1',
      "$'\\x70'1",
      '"p"1',
      'a=$(p1) b=`p2` p3',
      'cat <<E\n$(p1)\nE',
      'case $(p1) in *) p2 ;; esac',
      'f() { p1; }; f',
      'eval "p1; p2"',
      "bash -c 'p1'",
      "trap 'p1' EXIT",
      '${x:-p1}',
      '"${x:=$(p1)}"',
      ': $((1 + $(p1)))',
      'if p1; then p2; else p3; fi',
      '! p1 && p2 || p3',
      '(p1; { p2; })',
      'command p1',
      'exec p1',
      'x() p1; x',
      'p1 # p2',
      'echo \\# ; p1',
      "p1 <<'E'\n$(p2)\nE\np3",
    ]) {
      checkAgainst('/bin/bash', 'bash', text)
      checkAgainst('/bin/sh', 'sh', text)
    }
  })

  it('the stand-ins really run, so that the comparison means something', () => {
    assert.deepEqual(ranBy('/bin/bash', 'p1; $(p2)'), ['p1', 'p2'])
    assert.deepEqual(ranBy('/bin/sh', 'p1 && p3'), ['p1', 'p3'])
  })
})
